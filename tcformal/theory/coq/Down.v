(** Sums that are rounded down in steps (CDNA3): a sound bound of the error of one block, in closed form. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Rounding Order Error Carry Negation Chains Integers Monotone Relative.
Import ListNotations.
Open Scope R_scope.

(** A count of units, counted in other units, is rounded to a fixed point. *)
Lemma round_div_fix m n u u' : IZR (round_div m n (u' - u)) * bp u' = fix_rnd m u' (IZR n * bp u).
Proof.
  unfold fix_rnd, round, F2R, scaled_mantissa, cexp, FIX_exp; simpl. rewrite round_div_ok. do 3 f_equal.
  rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma round_div_loss m n u u' : Rabs (IZR (round_div m n (u' - u)) * bp u' - IZR n * bp u) < bp u'.
Proof. rewrite round_div_fix. apply fix_rnd_err. Qed.

Lemma cut_loss m u x : Rabs (IZR (cut m u x) * bp u - V x) < bp u.
Proof. rewrite cut_ok. apply fix_rnd_err. Qed.

(** * Sums rounded down (CDNA3) *)

(** A sum that is cut again loses a share of itself, or of 2^emin. *)
Lemma cut_again_loss m bits e n u : let u' := (Z.max (Z.log2 (Z.abs n) + u) e - bits)%Z in
  Rabs (IZR (round_div m n (u' - u)) * bp u' - IZR n * bp u) <= bp (- bits) * (Rabs (IZR n * bp u) + bp e).
Proof.
  intros u'. set (y := IZR n * bp u). pose proof (Rabs_pos y) as Y0. pose proof (bpow_ge_0 radix2 e) as E0. pose proof (bpow_ge_0 radix2 (- bits)) as S0.
  destruct (Z.eq_dec n 0) as [n0|n0].
  - unfold y. rewrite n0, round_div_0, !Rmult_0_l, Rminus_0_r, Rabs_R0. apply Rmult_le_pos; auto. rewrite Rplus_0_l. exact E0.
  - apply Rle_trans with (bp u'); [apply Rlt_le, round_div_loss|].
    replace (bp u') with (bp (- bits) * bp (Z.max (Z.log2 (Z.abs n) + u) e)) by (rewrite <- bpow_plus; f_equal; unfold u'; lia).
    apply Rmult_le_compat_l; auto. destruct (Z.max_spec (Z.log2 (Z.abs n) + u) e) as [[h ->]|[h ->]]; [lra|].
    pose proof (log2_mag n u n0) as Q. fold y in Q.
    assert (X : y <> 0). { unfold y. pose proof (bpow_gt_0 radix2 u). intros Z0. apply n0. apply eq_IZR. nra. }
    destruct (mag radix2 y) as [k Hk]. simpl in Q. subst k. specialize (Hk X).
    replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hk by lia. lra.
Qed.

(** The exponent that the sum with c is aligned at, and the units of the products' sum, of the sum with c, and of c. *)
Definition joint (x : partial) (c : num) : Z := match Design.top x with Some e => Z.max e (exp c) | None => exp c end.
Definition sum_unit (d : round_down) (x : partial) (c : num) : Z := (joint x c - (sum_bits d + (if cut_again d then 1 else 0)))%Z.
Definition c_unit (d : round_down) (x : partial) (c : num) : Z := (joint x c - down_bits d)%Z.

(** c added to a sum of products of value S that is wrong by T: the units of both alignments, the last cut and an ulp. *)
Theorem add_c_error d x c z S T :
  plain (out (products_sum d)) = true -> (down_bits d <= sum_bits d)%Z -> Rabs (V c) < bp (exp c + 1) ->
  Rabs (IZR (count x) * bp (Design.unit x) - S) <= T -> add_c d x c = Num z ->
  exists y, Rabs (y - (S + V c)) <= T + bp (sum_unit d x c) + bp (c_unit d x c) /\
    Rabs (V z - (S + V c)) <= T + bp (sum_unit d x c) + bp (c_unit d x c) +
      (if cut_again d then bp (- sum_bits d) * (Rabs y + bp (emin (out (products_sum d)))) else 0) + Rulp (out (products_sum d)) (V z).
Proof.
  intros P B Hc HT H. unfold add_c in H. set (o := out (products_sum d)) in *. pose proof (plain_p _ P) as Pp.
  fold (joint x c) in H. set (e := joint x c) in *.
  set (u1 := (e - (sum_bits d + (if cut_again d then 1 else 0)))%Z) in *. set (u2 := (e - down_bits d)%Z) in *.
  assert (U : (u1 <= u2)%Z) by (unfold u1, u2; destruct (cut_again d); lia).
  set (a := round_div (sum_mode d) (count x) (u1 - Design.unit x)) in *.
  set (b := if two_sums d && (exp c <? u2 - 1)%Z then 0%Z else cut (sum_mode d) u2 c) in *.
  set (n := (a + b * 2 ^ (u2 - u1))%Z) in *.
  pose proof (round_div_loss (sum_mode d) (count x) (Design.unit x) u1) as La. fold a in La.
  assert (Lb : Rabs (IZR b * bp u2 - V c) < bp u2).
  { unfold b. destruct (two_sums d && (exp c <? u2 - 1)%Z) eqn:Q; [|apply cut_loss]. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q.
    rewrite Rmult_0_l. replace (0 - V c) with (- V c) by ring. rewrite Rabs_Ropp. eapply Rlt_le_trans; [exact Hc|]. apply bpow_le. lia. }
  assert (En : IZR n * bp u1 = IZR a * bp u1 + IZR b * bp u2).
  { unfold n. rewrite plus_IZR, mult_IZR, <- bp_Z by lia. rewrite Rmult_plus_distr_r, Rmult_assoc, <- bpow_plus. do 3 f_equal. lia. }
  set (y := IZR n * bp u1) in *. exists y. unfold sum_unit, c_unit. fold e u1 u2.
  assert (Y : Rabs (y - (S + V c)) <= T + bp u1 + bp u2).
  { rewrite En. replace (IZR a * bp u1 + IZR b * bp u2 - (S + V c)) with
      ((IZR a * bp u1 - IZR (count x) * bp (Design.unit x)) + (IZR (count x) * bp (Design.unit x) - S) + (IZR b * bp u2 - V c)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (IZR a * bp u1 - IZR (count x) * bp (Design.unit x)) (IZR (count x) * bp (Design.unit x) - S)). lra. }
  split; [exact Y|]. destruct (cut_again d).
  - set (u3 := (Z.max (Z.log2 (Z.abs n) + u1) (emin o) - sum_bits d)%Z) in *.
    set (m3 := round_div (sum_mode d) n (u3 - u1)) in *.
    pose proof (convert_num _ _ _ _ _ P H) as Vz. pose proof (flt_err o (IZR m3 * bp u3) Pp) as Fe. rewrite <- Vz in Fe.
    pose proof (cut_again_loss (sum_mode d) (sum_bits d) (emin o) n u1) as B3. cbv zeta in B3. fold u3 m3 y in B3.
    replace (V z - (S + V c)) with ((V z - IZR m3 * bp u3) + (IZR m3 * bp u3 - y) + (y - (S + V c))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (V z - IZR m3 * bp u3) (IZR m3 * bp u3 - y)). lra.
  - pose proof (convert_num _ _ _ _ _ P H) as Vz. fold y in Vz. pose proof (flt_err o y Pp) as Fe. rewrite <- Vz in Fe.
    replace (V z - (S + V c)) with ((V z - y) + (y - (S + V c))) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** The products' sum loses a unit a term at most that is cut. *)
Theorem truncated_error d ps : carry_bits (products_sum d) = None ->
  Rabs (IZR (count (truncated d ps)) * bp (Design.unit (truncated d ps)) - exact_sum ps) <= INR (length ps) * bp (unit_of (products_sum d) ps).
Proof.
  intros K. cbn [truncated count Design.unit]. unfold total. rewrite K. pose proof (counts_ok (products_sum d) ps) as C. cbv zeta in C. rewrite C.
  eapply Rle_trans; [apply cut_sum_err|]. apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite INR_IZR_INZ. apply IZR_le. apply lossy_le.
Qed.

(** Of all products in one sum: L units of the products' alignment, one of each later alignment, the last cut and an ulp. *)
Theorem round_down_error d ps c z :
  plain (out (products_sum d)) = true -> carry_bits (products_sum d) = None -> (down_bits d <= sum_bits d)%Z -> two_sums d = false ->
  Rabs (V c) < bp (exp c + 1) -> round_down_sum d ps c = Num z ->
  let x := truncated d ps in let T := INR (length ps) * bp (unit_of (products_sum d) ps) in
  exists y, Rabs (y - (exact_sum ps + V c)) <= T + bp (sum_unit d x c) + bp (c_unit d x c) /\
    Rabs (V z - (exact_sum ps + V c)) <= T + bp (sum_unit d x c) + bp (c_unit d x c) +
      (if cut_again d then bp (- sum_bits d) * (Rabs y + bp (emin (out (products_sum d)))) else 0) + Rulp (out (products_sum d)) (V z).
Proof.
  intros P K B Tw Hc H x T. unfold round_down_sum in H. rewrite Tw in H. cbn [andb] in H.
  apply add_c_error; auto. now apply truncated_error.
Qed.

Lemma sides_sum {A} (g : A -> R) l : Rsum (map g (evens l)) + Rsum (map g (odds l)) = Rsum (map g l).
Proof.
  unfold evens, odds. assert (H : forall n (l : list A), (length l <= n)%nat ->
    Rsum (map g (every_second l)) + Rsum (map g (every_second (tl l))) = Rsum (map g l)).
  { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; cbn [length] in L; try lia; try (cbn; ring).
    assert (O : every_second (y :: r) = y :: every_second (tl r)) by (destruct r; auto).
    change (every_second (x :: y :: r)) with (x :: every_second r). cbn [tl]. rewrite O. specialize (IH r ltac:(lia)).
    cbn [map]. assert (C : forall a l, Rsum (a :: l) = a + Rsum l) by reflexivity. rewrite !C. lra. }
  eapply H; eauto.
Qed.

(** Even and odd products apart: each sum is rounded down once more, at the larger exponent. *)
Theorem two_sides_error d ps c z :
  plain (out (products_sum d)) = true -> carry_bits (products_sum d) = None -> (down_bits d <= sum_bits d)%Z -> two_sums d = true ->
  (1 < length ps)%nat ->
  Rabs (V c) < bp (exp c + 1) -> round_down_sum d ps c = Num z ->
  let l := truncated d (evens ps) in let r := truncated d (odds ps) in let x := sum_of_sides d l r in
  let T := INR (length (evens ps)) * bp (Design.unit l) + INR (length (odds ps)) * bp (Design.unit r) + 2 * bp (Design.unit x) in
  exists y, Rabs (y - (exact_sum ps + V c)) <= T + bp (sum_unit d x c) + bp (c_unit d x c) /\
    Rabs (V z - (exact_sum ps + V c)) <= T + bp (sum_unit d x c) + bp (c_unit d x c) +
      (if cut_again d then bp (- sum_bits d) * (Rabs y + bp (emin (out (products_sum d)))) else 0) + Rulp (out (products_sum d)) (V z).
Proof.
  intros P K B Tw N Hc H l r x T. pose proof (sides_sum V ps : exact_sum (evens ps) + exact_sum (odds ps) = exact_sum ps) as Sp. unfold round_down_sum in H. rewrite Tw in H.
  assert (N1 : (1 <? Z.of_nat (length ps))%Z = true) by lia. rewrite N1 in H. cbn [andb] in H. fold l r x in H.
  apply add_c_error; auto. rewrite <- Sp.
  pose proof (truncated_error d (evens ps) K) as Le. pose proof (truncated_error d (odds ps) K) as Lo. fold l in Le. fold r in Lo.
  change (unit_of (products_sum d) (evens ps)) with (Design.unit l) in Le. change (unit_of (products_sum d) (odds ps)) with (Design.unit r) in Lo.
  unfold x, sum_of_sides. cbn [count Design.unit]. set (u := match omax (Design.top l) (Design.top r) with Some e => (e - down_bits d)%Z | None => 0%Z end).
  rewrite plus_IZR, Rmult_plus_distr_r.
  pose proof (round_div_loss RD (count l) (Design.unit l) u) as A1. pose proof (round_div_loss RD (count r) (Design.unit r) u) as A2.
  assert (Tu : T = INR (length (evens ps)) * bp (Design.unit l) + INR (length (odds ps)) * bp (Design.unit r) + 2 * bp u) by reflexivity. rewrite Tu.
  match goal with |- Rabs (?a + ?b - (?s + ?t)) <= _ => replace (a + b - (s + t)) with
    ((a - IZR (count l) * bp (Design.unit l)) + (b - IZR (count r) * bp (Design.unit r)) +
     ((IZR (count l) * bp (Design.unit l) - s) + (IZR (count r) * bp (Design.unit r) - t))) by ring end.
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat; apply Rabs_triang|]. lra.
Qed.
