(** The relative error of one sum. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry Negation Chains Integers Monotone.
Import ListNotations.
Open Scope R_scope.

(** ** Relative error *)

Definition live (ts : list num) : Z := Z.of_nat (length (filter (fun x => negb (is_zero x)) ts)).

Lemma lossy_live u ts x : In x ts -> is_zero x = false -> (u <= lsb x)%Z -> (lossy u ts <= live ts - 1)%Z.
Proof.
  intros Hx Zx L. unfold lossy, live. apply in_split in Hx. destruct Hx as [a [b ->]].
  assert (G : forall l, (length (filter (fun x => negb (is_zero x) && (lsb x <? u)%Z) l) <= length (filter (fun x => negb (is_zero x)) l))%nat).
  { induction l; simpl; auto. destruct (is_zero a0); simpl; auto. destruct (lsb a0 <? u)%Z; simpl; lia. }
  rewrite !filter_app, !app_length. simpl. rewrite Zx. simpl. destruct (Z.ltb_spec (lsb x) u); [lia|]. simpl.
  pose proof (G a). pose proof (G b). lia.
Qed.

Lemma cut_sum_abs u ts : Rabs (Rsum (map (fun x => fix_rnd RZ u (V x)) ts)) <= magnitude ts.
Proof.
  unfold magnitude. induction ts; simpl. rewrite Rabs_R0; lra.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (truncated_term u (V a)). lra.
Qed.

(** A sum in units of 2^u, rounded: what it loses beside units of the larger of its own exponent and another. *)
Lemma conversion_loss c n u M :
  (0 <= p c)%Z -> (emin c <= M)%Z -> (u <= M - p c)%Z -> ((n <> 0)%Z -> (Z.log2 (Z.abs n) + u <= M)%Z) ->
  Rabs (flt_rnd c (IZR n * bp u) - IZR n * bp u) <= bp (M - p c) - bp u.
Proof.
  intros P EM UM LM. pose proof (bpow_le radix2 u (M - p c) UM) as B.
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Rmult_0_l. unfold flt_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. lra. }
  specialize (LM N). set (ex := last_bit c n u).
  assert (Ex : (ex <= M - p c)%Z). { unfold ex, last_bit. destruct (Z.eqb_spec n 0); [easy|]. lia. }
  pose proof (round_ok c n u) as Q. cbv zeta in Q. fold ex in Q.
  destruct (Z_le_gt_dec ex u) as [h|h].
  - rewrite round_div_unfold in Q. destruct (Z.leb_spec (ex - u) 0); [|lia]. rewrite <- Q, mult_IZR, <- bp_Z by lia.
    rewrite Rmult_assoc, <- bpow_plus. replace (- (ex - u) + ex)%Z with u by lia. rewrite Rminus_eq_0, Rabs_R0. lra.
  - set (r := round_div (rho c) n (ex - u)) in *. rewrite <- Q.
    assert (G : IZR r * bp ex - IZR n * bp u = IZR (r * 2 ^ (ex - u) - n) * bp u).
    { rewrite minus_IZR, mult_IZR, <- bp_Z by lia. rewrite Rmult_minus_distr_r, Rmult_assoc, <- bpow_plus. do 3 f_equal. lia. }
    assert (L : Rabs (IZR r * bp ex - IZR n * bp u) < bp ex).
    { rewrite Q. assert (X : IZR n * bp u <> 0). { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
      pose proof (flt_valid c P). pose proof (error_lt_ulp radix2 (flt c) (rnd (rho c)) _ X) as U.
      rewrite ulp_neq_0 in U by easy. unfold flt_rnd. unfold ex. now rewrite last_bit_ok. }
    rewrite G in *. rewrite Rabs_mult, (Rabs_pos_eq (bp u)) in * by apply bpow_ge_0. rewrite <- abs_IZR in *.
    assert (D : (Z.abs (r * 2 ^ (ex - u) - n) <= 2 ^ (ex - u) - 1)%Z).
    { assert (Z.abs (r * 2 ^ (ex - u) - n) < 2 ^ (ex - u))%Z; [|lia]. apply lt_IZR.
      apply Rmult_lt_reg_r with (bp u); [apply bpow_gt_0|]. rewrite <- (bp_Z (ex - u)), <- bpow_plus by lia.
      now replace (ex - u + u)%Z with ex by lia. }
    apply IZR_le in D. rewrite minus_IZR, <- bp_Z in D by lia.
    assert (bp (ex - u) * bp u = bp ex) by (rewrite <- bpow_plus; f_equal; lia).
    pose proof (bpow_le radix2 ex (M - p c) Ex). pose proof (bpow_gt_0 radix2 u). nra.
Qed.

Lemma conversion_loss_nearest c n u M :
  rho c = RNE \/ rho c = RNA ->
  (0 <= p c)%Z -> (emin c <= M)%Z -> ((n <> 0)%Z -> (Z.log2 (Z.abs n) + u <= M)%Z) ->
  Rabs (flt_rnd c (IZR n * bp u) - IZR n * bp u) <= bp (M - p c - 1).
Proof.
  intros NE P EM LM. pose proof (bpow_ge_0 radix2 (M - p c - 1)).
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Rmult_0_l. unfold flt_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. lra. }
  specialize (LM N). assert (X : IZR n * bp u <> 0). { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
  pose proof (flt_valid c P) as FV.
  assert (U : Rabs (flt_rnd c (IZR n * bp u) - IZR n * bp u) <= / 2 * ulp radix2 (flt c) (IZR n * bp u)).
  { unfold flt_rnd. destruct NE as [-> | ->]; simpl rnd; now apply error_le_half_ulp. }
  rewrite ulp_neq_0, <- last_bit_ok in U by easy. eapply Rle_trans; [exact U|].
  replace (/ 2) with (bp (-1)) by (simpl; lra). rewrite <- bpow_plus. apply bpow_le.
  unfold last_bit. destruct (Z.eqb_spec n 0); [easy|]. lia.
Qed.
