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

(** The constants, as rationals times powers of two: (max(n - 2, 0)) 2^-F + 2^-p, or (n - 1) 2^-F + 2^-(p+1). *)
Definition relative_constant (m : mode) (n f pp : Z) : R :=
  match m with
  | RNE | RNA => IZR (n - 1) * bp (- f) + bp (- pp - 1)
  | _ => IZR (Z.max (n - 2) 0) * bp (- f) + bp (- pp)
  end.

(** The error of one truncated sum is at most a constant of F, p and the number of terms, times the sum of their magnitudes. *)
Theorem relative_error d f ts x E z :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z ->
  alignment d = RZ -> normalise d = false -> fraction_bits d = Some f -> (p (out d) <= f)%Z ->
  Forall normal ts -> largest d ts = Some E -> (emin (out d) <= E)%Z ->
  In x ts -> is_zero x = false -> exp x = E -> (frac x <= f)%Z ->
  Rabs (V z - exact_sum ts) <= relative_constant (rho (out d)) (live ts) f (p (out d)) * magnitude ts.
Proof.
  intros P T H A Nn F Pf N L EE Hx Zx Ex Fx. pose proof (plain_p _ P) as Pp.
  unfold sum_numbers in H. rewrite T in H. pose proof (convert_num _ _ _ _ _ P H) as C. clear H.
  assert (U : unit_of d ts = (E - f)%Z) by (unfold unit_of; now rewrite F, L).
  pose proof (counts_ok d ts) as K. cbv zeta in K. rewrite A, U in K. rewrite U in C.
  set (u := (E - f)%Z) in *. set (n := zsum (counts d ts)) in *.
  pose proof (cut_sum_err RZ u ts) as Er. pose proof (cut_sum_abs u ts) as Ab. rewrite <- K in Er, Ab.
  set (S := IZR n * bp u) in *. set (M := Z.max E (if (n =? 0)%Z then E else (Z.log2 (Z.abs n) + u)%Z)).
  assert (LM : (n <> 0)%Z -> (Z.log2 (Z.abs n) + u <= M)%Z) by (unfold M; destruct (Z.eqb_spec n 0); lia).
  assert (EM : (E <= M)%Z) by lia.
  assert (Mag : bp M <= magnitude ts).
  { assert (bp E <= magnitude ts).
    { eapply Rle_trans; [|now apply magnitude_in with (x := x)]. rewrite Forall_forall in N. rewrite <- Ex. now apply N. }
    unfold M. destruct (Z.eqb_spec n 0) as [|n0]; [now rewrite Z.max_id|].
    destruct (Z.max_spec E (Z.log2 (Z.abs n) + u)) as [[_ ->]|[_ ->]]; auto.
    eapply Rle_trans; [|exact Ab]. pose proof (log2_mag n u n0) as Q. unfold S.
    assert (X : IZR n * bp u <> 0). { pose proof (bpow_gt_0 radix2 u). intros Y. apply n0. apply eq_IZR. nra. }
    destruct (mag radix2 (IZR n * bp u)) as [m Hm]. simpl in Q. subst m. specialize (Hm X).
    replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. lra. }
  assert (Lo : (lossy u ts <= live ts - 1)%Z). { apply lossy_live with x; auto. unfold lsb, u. lia. }
  assert (Lo0 : (0 <= lossy u ts)%Z) by apply lossy_le.
  assert (Bu : bp u <= bp (M - f)) by (apply bpow_le; lia).
  assert (BM : bp (M - f) = bp (- f) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  assert (Bp : bp (M - p (out d)) = bp (- p (out d)) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  assert (Bq : bp (M - p (out d) - 1) = bp (- p (out d) - 1) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  pose proof (bpow_gt_0 radix2 u). pose proof (bpow_ge_0 radix2 (- f)). pose proof (bpow_ge_0 radix2 (- p (out d))).
  pose proof (bpow_ge_0 radix2 (- p (out d) - 1)). pose proof (bpow_ge_0 radix2 M).
  replace (V z - exact_sum ts) with ((V z - S) + (S - exact_sum ts)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite C.
  assert (Near : rho (out d) = RNE \/ rho (out d) = RNA -> Rabs (flt_rnd (out d) S - S) + Rabs (S - exact_sum ts)
            <= (IZR (live ts - 1) * bp (- f) + bp (- p (out d) - 1)) * magnitude ts).
  { intros NE. pose proof (conversion_loss_nearest (out d) n u M NE Pp ltac:(lia) LM) as CL. fold S in CL.
    apply IZR_le in Lo. apply IZR_le in Lo0. assert (0 <= IZR (live ts - 1)) by lra.
    apply Rle_trans with ((IZR (live ts - 1) * bp (- f) + bp (- p (out d) - 1)) * bp M).
    - assert (IZR (lossy u ts) * bp u <= IZR (live ts - 1) * bp (M - f)) by (apply Rmult_le_compat; lra).
      rewrite BM in H5. rewrite Bq in CL. lra.
    - apply Rmult_le_compat_l; auto. apply Rplus_le_le_0_compat; auto. now apply Rmult_le_pos. }
  assert (Cut : Rabs (flt_rnd (out d) S - S) + Rabs (S - exact_sum ts)
            <= (IZR (Z.max (live ts - 2) 0) * bp (- f) + bp (- p (out d))) * magnitude ts).
  { pose proof (conversion_loss (out d) n u M Pp ltac:(lia) ltac:(unfold u; lia) LM) as CL. fold S in CL.
    assert (Q : (lossy u ts - 1 <= Z.max (live ts - 2) 0)%Z) by lia. apply IZR_le in Q. rewrite minus_IZR in Q.
    assert (Q0 : 0 <= IZR (Z.max (live ts - 2) 0)) by (apply IZR_le; lia).
    apply Rle_trans with ((IZR (Z.max (live ts - 2) 0) * bp (- f) + bp (- p (out d))) * bp M).
    - assert (IZR (Z.max (live ts - 2) 0) * bp u <= IZR (Z.max (live ts - 2) 0) * bp (M - f)) by (apply Rmult_le_compat_l; auto).
      rewrite BM in H4. rewrite Bp in CL. nra.
    - apply Rmult_le_compat_l; auto. apply Rplus_le_le_0_compat; auto. now apply Rmult_le_pos. }
  unfold relative_constant. destruct (rho (out d)); auto.
Qed.
