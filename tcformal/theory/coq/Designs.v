(** Parts of a design that leave what they are given as it is, and blocks of products. *)
From Coq Require Import ZArith List Bool Lia.
From TC Require Import Spec Design.
Import ListNotations.
Open Scope Z_scope.

Lemma flush_kept v : flush Kept v = v.
Proof. destruct v; simpl; auto. now destruct (negb _). Qed.

Lemma zero_as_none x v : zero_as None x v = v.
Proof. now destruct v. Qed.

Lemma cut_list_Forall {A} (P : A -> Prop) n : forall k l, Forall P l -> Forall (Forall P) (cut_list k n l).
Proof.
  induction k as [|k IH]; intros l F; simpl; auto. destruct l as [|x r]; auto. constructor.
  - apply Forall_forall. intros y Hy. rewrite Forall_forall in F. apply F. rewrite <- (firstn_skipn n (x :: r)).
    apply in_or_app. now left.
  - apply IH. apply Forall_forall. intros y Hy. rewrite Forall_forall in F. apply F. rewrite <- (firstn_skipn n (x :: r)).
    apply in_or_app. now right.
Qed.

Lemma encode_not_nan f n n' v : is_nan v = false -> encode f n v = encode f n' v.
Proof. now destruct v. Qed.

Lemma numbered_snd {A} (l : list A) : forall i, map snd (numbered i l) = l.
Proof. induction l as [|x r IH]; intros i; simpl; auto. now rewrite IH. Qed.
