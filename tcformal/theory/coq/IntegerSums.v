(** What the theorems about sums of integers say of the specification's designs. *)
From Coq Require Import ZArith List Lia.
From TC Require Import IntegerUnits.
Import ListNotations.
Open Scope Z_scope.

(** The products and c that are added, inner sums and all. *)
Fixpoint terms (products : list Z) (c : Z) (x : sums) : list Z :=
  match x with Product k => [nth k products 0] | C => [c] | Sum _ parts => flat_map (terms products c) parts end.

(** Every sum of a design wraps into one format. *)
Fixpoint all_wrap (lo m : Z) (x : sums) : Prop :=
  match x with
  | Sum how parts =>
      saturates how = false /\ least (into how) = lo /\ count (into how) = m /\ fold_right (fun y P => all_wrap lo m y /\ P) True parts
  | _ => True
  end.

(** One sum of products and c is a call. *)
Theorem one_sum_is_call products c how ks :
  result products c (Sum how (map Product ks ++ [C])) = call (converted how) c (map (fun k => nth k products 0) ks).
Proof.
  cbn [result]. unfold call. f_equal. rewrite map_app, map_map, total_app. simpl. unfold total. lia.
Qed.

(** Sums that wrap are one sum that wraps, in whichever groups their terms are added. *)
Theorem wrapped_groups lo m products c : 0 < m -> forall x, all_wrap lo m x ->
  wrapped lo m (result products c x) = wrapped lo m (total (terms products c x)).
Proof.
  intros M. fix IH 1. intros [k| |how parts] W; cbn [result terms all_wrap] in *.
  - f_equal. unfold total. simpl. lia.
  - f_equal. unfold total. simpl. lia.
  - destruct W as [S [L [K W]]]. unfold converted. rewrite S, L, K.
    replace (wrapped lo m (wrapped lo m (total (map (result products c) parts)))) with (wrapped lo m (total (map (result products c) parts)))
      by (apply wrapped_same; now rewrite wrapped_congruent).
    revert W. induction parts as [|y parts IP]; intros W; [reflexivity|]. destruct W as [W1 W2].
    specialize (IP W2). specialize (IH y W1). cbn [map flat_map]. rewrite total_app. apply wrapped_same.
    change (total (result products c y :: map (result products c) parts)) with (result products c y + total (map (result products c) parts)).
    apply (f_equal (fun z => z mod m)) in IP, IH. rewrite !wrapped_congruent in IP, IH by lia.
    rewrite Zplus_mod, IH, IP, <- Zplus_mod. reflexivity.
Qed.
