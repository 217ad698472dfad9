(** Sums of values: numbers where all of them are. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry Negation.
Import ListNotations.
Open Scope R_scope.

Lemma numbers_map ts : numbers (map Num ts) = Some ts.
Proof.
  unfold numbers. replace (forallb is_num (map Num ts)) with true by (induction ts; simpl; auto).
  f_equal. rewrite map_map. simpl. apply map_id.
Qed.

Lemma sum_values_num d ts : sum_values d (map Num ts) = sum_numbers d ts.
Proof. unfold sum_values. now rewrite numbers_map. Qed.

Lemma special_not_num vs z : special_sum vs <> Num z.
Proof.
  unfold special_sum. intros H.
  repeat match type of H with context [existsb ?q ?l] => destruct (existsb q l) end; easy.
Qed.

Lemma sum_values_inv d vs z : sum_values d vs = Num z -> exists ts, vs = map Num ts.
Proof.
  unfold sum_values, numbers. destruct (forallb is_num vs) eqn:B; intros H.
  - exists (map num_of vs). rewrite map_map. rewrite forallb_forall in B. clear H.
    induction vs as [|v r IH]; simpl; auto. rewrite <- IH by (intros; apply B; now right).
    specialize (B v (or_introl eq_refl)). now destruct v.
  - exfalso. eapply special_not_num; eauto.
Qed.
