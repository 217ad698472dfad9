(** Chains of blocks: numbers throughout where the result is one, and the error of the whole chain. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry Negation.
Import ListNotations.
Open Scope R_scope.

(** ** Chains of blocks *)

(** The result of every block; [None] where one is no number. *)
Fixpoint run (d : sum) (bs : list (list num)) (c : num) : option (list num) :=
  match bs with
  | [] => Some []
  | b :: r => match sum_numbers d (b ++ [c]) with Num z => option_map (cons z) (run d r z) | _ => None end
  end.

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

Lemma chain_not_num d bs v z : chain d bs v = Num z -> exists x, v = Num x.
Proof.
  unfold chain. revert v. induction bs as [|b r IH]; simpl; intros v H; [eauto|].
  destruct (IH _ H) as [y Hy]. apply sum_values_inv in Hy. destruct Hy as [ts E].
  destruct (exists_last (l := ts)) as [ts' [x Ex]].
  { intros ->. apply app_eq_nil in E. destruct E; easy. }
  subst ts. rewrite map_app in E. simpl in E. apply app_inj_tail in E. destruct E as [_ ->]. eauto.
Qed.

Lemma last_cons {A} (zs : list A) : forall y c, last (y :: zs) c = last zs y.
Proof.
  induction zs as [|a l IH]; intros y c; auto. change (last (a :: l) c = last (a :: l) y). now rewrite !IH.
Qed.

(** Where the result of a chain is a number, that of every block is one. *)
Theorem chain_run d bs c z :
  chain d (map (map Num) bs) (Num c) = Num z -> exists zs, run d bs c = Some zs /\ last zs c = z.
Proof.
  revert c. induction bs as [|b r IH]; simpl; intros c H.
  - injection H as <-. exists []. auto.
  - unfold chain in H; simpl in H. change [Num c] with (map Num [c]) in H. rewrite <- map_app in H.
    rewrite sum_values_num in H. destruct (chain_not_num d _ _ _ H) as [y Hy]. rewrite Hy in *.
    destruct (IH y H) as [zs [E L]]. exists (y :: zs). rewrite E. split; auto.
    now rewrite last_cons.
Qed.

(** The units of the blocks, their lossy terms, and what is lost in all. *)
Fixpoint lost (d : sum) (bs : list (list num)) (c : num) (zs : list num) : R :=
  match bs, zs with
  | b :: r, z :: zs' =>
      let ts := b ++ [c] in
      IZR (lossy (unit_of d ts) ts) * bp (unit_of d ts) + Rulp (out d) (V z) + lost d r z zs'
  | _, _ => 0
  end.

Fixpoint all_exact (d : sum) (bs : list (list num)) (c : num) (zs : list num) : Prop :=
  match bs, zs with b :: r, z :: zs' => exact_total d (b ++ [c]) /\ all_exact d r z zs' | _, _ => True end.

Lemma exact_sum_app a b : exact_sum (a ++ b) = exact_sum a + exact_sum b.
Proof. unfold exact_sum. now rewrite map_app, Rsum_app. Qed.

(** The error of a chain is at most the sum of its blocks' errors. *)
Theorem chain_error d bs : plain (out d) = true -> forall c zs, run d bs c = Some zs -> all_exact d bs c zs ->
  Rabs (V (last zs c) - (V c + Rsum (map exact_sum bs))) <= lost d bs c zs.
Proof.
  intros P. induction bs as [|b r IH]; simpl; intros c zs H A.
  - injection H as <-. simpl. replace (V c - (V c + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - destruct (sum_numbers d (b ++ [c])) as [z| |] eqn:S; try easy.
    destruct (run d r z) as [zs'|] eqn:Q; try easy. simpl in H. injection H as <-. destruct A as [A1 A2].
    specialize (IH z zs' Q A2). pose proof (block_error_lossy d _ _ P A1 S) as B.
    rewrite exact_sum_app in B. unfold exact_sum at 2 in B. simpl in B.
    rewrite last_cons.
    set (T := Rsum (map exact_sum r)) in *.
    replace (V (last zs' z) - (V c + (exact_sum b + T))) with
      ((V z - (exact_sum b + (V c + 0))) + (V (last zs' z) - (V z + T))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** With E above the exponents of all terms of all blocks, the results' included. *)
Fixpoint below (d : sum) (E : Z) (bs : list (list num)) (c : num) (zs : list num) : Prop :=
  match bs, zs with b :: r, z :: zs' => ole (largest d (b ++ [c])) (Some E) /\ below d E r z zs' | _, _ => True end.

Fixpoint stated (d : sum) (E f : Z) (bs : list (list num)) (zs : list num) : R :=
  match bs, zs with
  | b :: r, z :: zs' => (IZR (Z.of_nat (length b)) + 1) * bp (E - f) + Rulp (out d) (V z) + stated d E f r zs'
  | _, _ => 0
  end.

(** The same with one exponent that is at least that of every term. *)
Theorem chain_error_E d f E bs :
  plain (out d) = true -> fraction_bits d = Some f -> forall c zs, run d bs c = Some zs -> all_exact d bs c zs ->
  below d E bs c zs ->
  Rabs (V (last zs c) - (V c + Rsum (map exact_sum bs))) <= stated d E f bs zs.
Proof.
  intros P F c zs H A L. eapply Rle_trans; [apply (chain_error d bs P c zs H A)|]. clear A. revert c zs H L.
  induction bs as [|b r IH]; simpl; intros c zs H L; [lra|].
  destruct (sum_numbers d (b ++ [c])) as [z| |] eqn:S; try easy.
  destruct (run d r z) as [zs'|] eqn:Q; try easy. simpl in H. injection H as <-. destruct L as [L1 L2].
  specialize (IH z zs' Q L2). pose proof (lossy_bound d (b ++ [c]) f E F L1) as B.
  rewrite app_length in B. simpl length in B. rewrite Nat2Z.inj_add, plus_IZR in B. change (Z.of_nat 1) with 1%Z in B. lra.
Qed.
