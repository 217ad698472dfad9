(** Whether a subnormal c counts as a zero, where its sum with one far larger number, or none, makes subnormal results zeros. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Chains Words Values Irrelevant AtOnce Mirror Axes Zeros Summations Orders Stages StepNans.
Import ListNotations.
Open Scope Z_scope.

(** * Words of numbers *)

Lemma encode_same f nan x y : neg x = neg y -> exp x = exp y -> (IZR (sig x) * bp (- frac x) = IZR (sig y) * bp (- frac y))%R ->
  encode f nan (Num x) = encode f nan (Num y).
Proof.
  intros N E V. unfold encode. rewrite N, E.
  assert (T : round_div RZ (sig x) (frac x - fbits f) = round_div RZ (sig y) (frac y - fbits f)); [|now rewrite T].
  rewrite !round_div_ok. f_equal. replace (- (frac x - fbits f)) with (- frac x + fbits f) by lia. replace (- (frac y - fbits f)) with (- frac y + fbits f) by lia.
  rewrite !bpow_plus, <- !Rmult_assoc. now rewrite V.
Qed.

(** * Beside a number that is far larger *)

Definition nearest_mode (c : conversion) : bool := match rho c with RNE | RNA => true | _ => false end.

Section Near.
Variables (c : conversion) (g : Z).
Hypotheses (P : 0 <= p c) (N : nearest_mode c = true) (G : emin c + p c + 2 <= g).

Lemma format_multiple z : generic_format radix2 (flt c) z -> (bp (g - 1) <= Rabs z)%R -> exists k, z = (IZR k * bp (g - 1 - p c))%R.
Proof.
  intros F B. assert (M : (g <= mag radix2 z)%Z) by (apply mag_ge_bpow; exact B).
  unfold generic_format in F. set (m := Ztrunc (scaled_mantissa radix2 (flt c) z)) in *. set (ce := cexp radix2 (flt c) z) in *.
  assert (C : g - 1 - p c <= ce) by (unfold ce, cexp, flt, FLT_exp; lia).
  exists (m * 2 ^ (ce - (g - 1 - p c))). rewrite F at 1. unfold F2R. cbn [Fnum Fexp]. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
Qed.

Lemma near_rounded x y : generic_format radix2 (flt c) x -> (bp g <= Rabs x)%R -> (Rabs (y - x) < bp (emin c))%R -> flt_rnd c y = x.
Proof.
  intros F B D. assert (Pp : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  assert (Er : (Rabs (flt_rnd c y - y) <= Rabs (x - y))%R).
  { unfold flt_rnd, nearest_mode in *. destruct (rho c); try easy; cbn [rnd]; apply round_N_pt; auto with typeclass_instances. }
  assert (Lx : (bp (emin c) + bp (emin c) <= bp (g - 1))%R).
  { replace (bp (emin c) + bp (emin c))%R with (bp (emin c + 1)) by (rewrite bpow_plus; cbn; ring). apply bpow_le. lia. }
  assert (Gg : bp g = (bp (g - 1) + bp (g - 1))%R) by (replace g with (g - 1 + 1) at 1 by lia; rewrite bpow_plus; cbn; ring).
  rewrite (Rabs_minus_sym x y) in Er. pose proof (Rabs_triang (flt_rnd c y - y) (y - x)) as T. replace (flt_rnd c y - y + (y - x))%R with (flt_rnd c y - x)%R in T by ring.
  assert (Bz : (bp (g - 1) <= Rabs (flt_rnd c y))%R).
  { pose proof (Rabs_triang_inv x (x - flt_rnd c y)) as U. replace (x - (x - flt_rnd c y))%R with (flt_rnd c y) in U by ring. rewrite (Rabs_minus_sym x (flt_rnd c y)) in U.
    pose proof (bpow_gt_0 radix2 (g - 1)). lra. }
  assert (Fz : generic_format radix2 (flt c) (flt_rnd c y)) by (unfold flt_rnd; apply generic_format_round; auto with typeclass_instances; unfold flt; auto with typeclass_instances).
  destruct (format_multiple _ Fz Bz) as [a Ha]. destruct (format_multiple x F ltac:(pose proof (bpow_gt_0 radix2 (g - 1)); lra)) as [b Hb].
  assert (Q : (Rabs (IZR (a - b)) * bp (g - 1 - p c) < bp (g - 1 - p c))%R).
  { rewrite minus_IZR. replace (Rabs (IZR a - IZR b) * bp (g - 1 - p c))%R with (Rabs (flt_rnd c y - x)).
    - apply Rlt_le_trans with (bp (emin c) + bp (emin c))%R; [lra|]. replace (bp (emin c) + bp (emin c))%R with (bp (emin c + 1)) by (rewrite bpow_plus; cbn; ring). apply bpow_le. lia.
    - rewrite Ha, Hb, <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. reflexivity. }
  pose proof (bpow_gt_0 radix2 (g - 1 - p c)) as Pg. assert (Ab : (Rabs (IZR (a - b)) < 1)%R) by nra. rewrite <- abs_IZR in Ab. apply lt_IZR in Ab.
  rewrite Ha, Hb. do 2 f_equal. lia.
Qed.

Hypothesis (T : tiny c = false).

Definition plus_zero_num : num := {| neg := false; sig := 0; exp := emin c; frac := p c |}.

(** Two sums that are rounded to one number of the format are one word. *)
Lemma rounded_word f nan c' s s' n n' u u' x : c' = with_zero_sign c Positive ->
  flt_rnd c (IZR n * bp u) = x -> flt_rnd c (IZR n' * bp u') = x -> (bp g <= Rabs x)%R -> (n <? 0) = (n' <? 0) ->
  encode f nan (convert c s n u) = encode f nan (convert c' s' n' u') /\ is_nan (convert c s n u) = false /\ is_nan (convert c' s' n' u') = false.
Proof.
  intros -> H H' B Sn. pose proof (round_ok c n u) as R. pose proof (round_ok c n' u') as R'. cbv zeta in R, R'. rewrite H in R. rewrite H' in R'.
  unfold convert. change (last_bit (with_zero_sign c Positive) n' u') with (last_bit c n' u'). cbn [rho p emin emax flushes tiny zsign with_zero_sign]. rewrite T. cbn [andb]. rewrite !orb_false_r.
  change (is_infinite (with_zero_sign c Positive) n') with (is_infinite c n').
  set (ex := last_bit c n u) in *. set (ex' := last_bit c n' u') in *. set (r := round_div (rho c) n (ex - u)) in *. set (r' := round_div (rho c) n' (ex' - u')) in *.
  pose proof (bpow_gt_0 radix2 g) as Pg.
  assert (Z : r <> 0) by (intros Z; rewrite Z, Rmult_0_l in R; rewrite <- R, Rabs_R0 in B; lra).
  assert (Z' : r' <> 0) by (intros Z0; rewrite Z0, Rmult_0_l in R'; rewrite <- R', Rabs_R0 in B; lra).
  assert (O : Z.log2 (Z.abs r) + ex = Z.log2 (Z.abs r') + ex').
  { pose proof (log2_mag r ex Z) as M. pose proof (log2_mag r' ex' Z') as M'. rewrite R in M. rewrite R' in M'. lia. }
  assert (Lo : emin c <= Z.log2 (Z.abs r) + ex).
  { pose proof (log2_mag r ex Z) as M. rewrite R in M. assert (g + 1 <= mag radix2 x) by (apply mag_ge_bpow; replace (g + 1 - 1) with g by lia; exact B). lia. }
  destruct (Z.eqb_spec r 0); [easy|]. destruct (Z.eqb_spec r' 0); [easy|]. cbn [orb].
  destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin c)); [lia|]. destruct (Z.ltb_spec (Z.log2 (Z.abs r') + ex') (emin c)); [lia|]. rewrite !andb_false_r. rewrite <- O.
  assert (I : is_infinite c n = is_infinite c n').
  { unfold is_infinite. destruct (overflow c); auto. unfold nearest_mode in N. destruct (rho c); easy. }
  destruct (emax c <? Z.log2 (Z.abs r) + ex).
  { rewrite <- I, Sn. destruct (is_infinite c n); auto. }
  split; [|split; reflexivity]. apply encode_same; cbn [neg sig exp frac].
  - assert (E : (IZR r * bp ex = IZR r' * bp ex')%R) by congruence. exact (scaled_neg _ _ _ _ E).
  - lia.
  - assert (E : (IZR (Z.abs r) * bp ex = IZR (Z.abs r') * bp ex')%R).
    { rewrite !abs_IZR, <- (Rabs_pos_eq (bp ex)), <- (Rabs_pos_eq (bp ex')), <- !Rabs_mult by apply bpow_ge_0. congruence. }
    set (k := Z.max (Z.log2 (Z.abs r) + ex) (emin c)). replace (- (k - ex)) with (ex + - k) by lia. replace (- (k - ex')) with (ex' + - k) by lia.
    rewrite !bpow_plus, <- !Rmult_assoc. now rewrite E.
Qed.
End Near.

(** * A sum of two numbers *)

Lemma sum_of_two e x c : fraction_bits e = None -> carry_bits e = None -> nearest_mode (out e) = true -> (is_zero x = true -> neg x = false) -> 0 <= sig x -> 0 <= sig c ->
  exists n u s, (forall e', fraction_bits e' = None -> carry_bits e' = None -> alignment e' = alignment e -> rho (out e') = rho (out e) ->
    sum_numbers e' [x; c] = convert (out e') s n u) /\ (IZR n * bp u = V x + V c)%R /\ (n = 0 -> s = false).
Proof.
  intros F K N Px Sx Sc. exists (zsum (counts e [x; c])), (unit_of e [x; c]), (sign_of (rho (out e)) (zsum (counts e [x; c])) [x; c] (counts e [x; c])).
  split; [|split].
  - intros e' F' K' A R. unfold sum_numbers, total, counts, unit_of. rewrite F, K', F', A, R. reflexivity.
  - rewrite multiples_total by (now apply exact_multiples). change (exact_sum [x; c]) with (V x + (V c + 0))%R. ring.
  - intros Z. rewrite Z. apply plus_zero_sign; [unfold nearest_mode in N; destruct (rho (out e)); easy|].
    destruct (neg x) eqn:Nx; [|exists x; split; [now left|exact Nx]]. exists c. split; [right; now left|]. destruct (neg c) eqn:Nc; [|reflexivity]. exfalso.
    assert (Nz : is_zero x = false) by (destruct (is_zero x); auto; now specialize (Px eq_refl)). unfold is_zero in Nz. apply Z.eqb_neq in Nz.
    assert (E : (IZR (zsum (counts e [x; c])) * bp (unit_of e [x; c]) = V x + V c)%R) by (rewrite multiples_total by (now apply exact_multiples); change (exact_sum [x; c]) with (V x + (V c + 0))%R; ring).
    rewrite Z, Rmult_0_l in E. unfold V, signed in E. rewrite Nx, Nc, !opp_IZR in E.
    pose proof (bpow_gt_0 radix2 (lsb x)). pose proof (bpow_gt_0 radix2 (lsb c)). assert (1 <= IZR (sig x))%R by (apply IZR_le; lia). assert (0 <= IZR (sig c))%R by (apply IZR_le; lia). nra.
Qed.

Lemma multiple_real y h : multiple h y -> exists k, V y = (IZR k * bp h)%R.
Proof.
  intros [k M]. exists (k * 2 ^ (Z.max 0 (h - lsb y) - (h - lsb y))). unfold V. rewrite M, !mult_IZR, <- !bp_Z by lia. rewrite !Rmult_assoc, <- !bpow_plus. do 2 f_equal. lia.
Qed.

Lemma far g k : (IZR k * bp g <> 0)%R -> (bp g <= Rabs (IZR k * bp g))%R.
Proof.
  intros Z. rewrite Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR by apply bpow_ge_0. pose proof (bpow_gt_0 radix2 g).
  assert (1 <= IZR (Z.abs k))%R; [|nra]. apply IZR_le. assert (k <> 0) by (intros ->; apply Z; ring). lia.
Qed.

Section Sums.
Variables (e : sum) (g : Z).
Let o := out e.
Hypotheses (F : fraction_bits e = None) (K : carry_bits e = None) (P : 0 <= p o) (N : nearest_mode o = true) (G : emin o + p o + 2 <= g) (T : tiny o = false) (Fl : flushes o = true).
Let e' := with_out e (with_zero_sign o Positive).

Lemma positive_same s n u : (n = 0 -> s = false) -> (n <> 0 -> (bp (emin o) <= Rabs (IZR n * bp u))%R) -> convert (with_zero_sign o Positive) s n u = convert o s n u.
Proof.
  intros Z B. unfold convert. change (last_bit (with_zero_sign o Positive) n u) with (last_bit o n u). cbn [rho p emin emax flushes tiny zsign with_zero_sign]. rewrite T, Fl.
  change (is_infinite (with_zero_sign o Positive) n) with (is_infinite o n). cbn [andb]. rewrite !orb_false_r.
  destruct (Z.eq_dec n 0) as [N0|N0].
  - rewrite (Z N0), N0, !round_div_0. cbn [Z.eqb orb]. now rewrite andb_false_r.
  - assert (L : emin o <= Z.log2 (Z.abs n) + u).
    { specialize (B N0). pose proof (log2_mag n u N0) as M. assert (emin o + 1 <= mag radix2 (IZR n * bp u)) by (apply mag_ge_bpow; replace (emin o + 1 - 1) with (emin o) by lia; exact B). lia. }
    pose proof (normal_sum o n u P N0 L) as S. rewrite T in S. cbn [andb] in S. rewrite orb_false_r in S. rewrite S.
    destruct (round_log (rho o) n (last_bit o n u - u) N0 ltac:(unfold last_bit; destruct (Z.eqb_spec n 0); lia)) as [_ R]. destruct (Z.eqb_spec (round_div (rho o) n (last_bit o n u - u)) 0); [easy|reflexivity].
Qed.

Lemma flushed_zero s n u : (Rabs (IZR n * bp u) < bp (emin o))%R -> generic_format radix2 (flt o) (IZR n * bp u) ->
  convert (with_zero_sign o Positive) s n u = Num (plus_zero_num o).
Proof.
  intros B Fm. unfold convert. change (last_bit (with_zero_sign o Positive) n u) with (last_bit o n u). cbn [rho p emin emax flushes tiny zsign with_zero_sign]. rewrite T, Fl. cbn [andb]. rewrite orb_false_r.
  pose proof (round_ok o n u) as R. cbv zeta in R. set (ex := last_bit o n u) in *. set (r := round_div (rho o) n (ex - u)) in *.
  assert (X : flt_rnd o (IZR n * bp u) = (IZR n * bp u)%R) by (unfold flt_rnd; apply round_generic; auto with typeclass_instances). rewrite X in R.
  destruct (Z.eqb_spec r 0) as [Z|Z]; [reflexivity|]. cbn [orb].
  destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin o)) as [L|L]; [reflexivity|]. exfalso.
  pose proof (log2_mag r ex Z) as M. rewrite R in M. assert (mag radix2 (IZR n * bp u) <= emin o); [|lia]. apply mag_le_bpow; [|exact B].
  intros E. rewrite E in R. pose proof (bpow_gt_0 radix2 ex). assert (r <> 0) by exact Z. apply Z. apply eq_IZR. nra.
Qed.

(** A number that is far larger or +0, and a number of the format or below it. *)
Variables (x c z : num) (fmt : format) (nan : Z).
Hypotheses (Sx : 0 <= sig x) (Mx : multiple g x) (Fx : generic_format radix2 (flt o) (V x)) (Px : is_zero x = true -> neg x = false)
  (Sc : 0 <= sig c < 2 ^ (frac c + 1)) (Fc : 0 <= frac c <= p o) (Ec : emin o <= exp c)
  (Sub : is_subnormal c = true -> exp c = emin o) (Nor : is_subnormal c = false -> is_zero c = true \/ 2 ^ frac c <= sig c) (Zz : is_zero z = true).

Lemma c_value : Rabs (V c) = (IZR (sig c) * bp (lsb c))%R.
Proof. unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)), <- abs_IZR by apply bpow_ge_0. do 2 f_equal. unfold signed. destruct (neg c); lia. Qed.

Lemma c_below : (Rabs (V c) < bp (exp c + 1))%R.
Proof.
  rewrite c_value. replace (exp c + 1) with (frac c + 1 + lsb c) by (unfold lsb; lia). rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite bp_Z by lia. apply IZR_lt. lia.
Qed.

Lemma normal_apart : is_subnormal c = false -> (V x + V c <> 0 -> bp (emin o) <= Rabs (V x + V c))%R.
Proof.
  intros S Z. destruct (multiple_real x g Mx) as [k Vx]. assert (Gg : bp g = (bp (g - 1) + bp (g - 1))%R) by (replace g with (g - 1 + 1) at 1 by lia; rewrite bpow_plus; cbn; ring).
  assert (Le : (bp (emin o) <= bp (g - 1))%R) by (apply bpow_le; lia). pose proof (bpow_gt_0 radix2 (g - 1)) as Pg.
  destruct (Nor S) as [Zc|Lc].
  { rewrite (V_zero c Zc), Rplus_0_r in Z |- *. rewrite Vx in Z |- *. pose proof (far g k Z). lra. }
  assert (Bc : (bp (exp c) <= Rabs (V c))%R).
  { rewrite c_value. replace (exp c) with (frac c + lsb c) by (unfold lsb; lia). rewrite bpow_plus. apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le. }
  destruct (Z.le_gt_cases (g - 1) (exp c)) as [L|L].
  - assert (Q : exists m, (V x + V c)%R = (IZR m * bp (g - 1 - p o))%R).
    { exists (k * 2 ^ (1 + p o) + signed c * 2 ^ (lsb c - (g - 1 - p o))). rewrite plus_IZR, !mult_IZR, <- !bp_Z by (unfold lsb; lia). rewrite Vx. unfold V. rewrite Rmult_plus_distr_r, !Rmult_assoc, <- !bpow_plus. f_equal; do 2 f_equal; lia. }
    destruct Q as [m Q]. rewrite Q in Z |- *. rewrite Rabs_mult, (Rabs_pos_eq (bp _)), <- abs_IZR by apply bpow_ge_0.
    apply Rle_trans with (1 * bp (g - 1 - p o))%R; [rewrite Rmult_1_l; apply bpow_le; lia|]. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. assert (m <> 0) by (intros ->; apply Z; ring). lia.
  - destruct (Req_dec (V x) 0) as [X0|X0]; [rewrite X0, Rplus_0_l; apply Rle_trans with (bp (exp c)); [apply bpow_le; lia|exact Bc]|].
    rewrite Vx in X0. pose proof (far g k X0) as Fk. rewrite <- Vx in Fk. pose proof c_below as Cb. assert (bp (exp c + 1) <= bp (g - 1))%R by (apply bpow_le; lia).
    pose proof (Rabs_triang_inv (V x) (- V c)) as U. rewrite Rabs_Ropp in U. replace (V x - - V c)%R with (V x + V c)%R in U by ring. lra.
Qed.

Lemma subnormal_apart : is_subnormal c = true -> generic_format radix2 (flt o) (V c) /\ (Rabs (V c) < bp (emin o))%R.
Proof.
  intros S. pose proof (Sub S) as E. unfold is_subnormal in S. apply andb_prop in S. destruct S as [S1 S2]. apply negb_true_iff in S1. unfold is_zero in S1. apply Z.eqb_neq in S1. apply Z.ltb_lt in S2.
  assert (L : sig c < 2 ^ frac c) by (apply Z.log2_lt_pow2; lia). split.
  - apply generic_format_FLT. exists (Float radix2 (signed c) (lsb c)); [reflexivity| |cbn; unfold lsb; lia]. cbn [Fnum]. change (Zpower radix2 (p o + 1)) with (2 ^ (p o + 1)).
    assert (2 ^ frac c <= 2 ^ (p o + 1)) by (apply Z.pow_le_mono_r; lia). unfold signed. destruct (neg c); lia.
  - rewrite c_value. rewrite <- E. replace (exp c) with (frac c + lsb c) by (unfold lsb; lia). rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite bp_Z by lia. now apply IZR_lt.
Qed.

Lemma two_same (y := if is_subnormal c then z else c) : 0 <= sig z ->
  encode fmt nan (sum_numbers e [x; y]) = encode fmt nan (sum_numbers e' [x; c]) /\ is_nan (sum_numbers e [x; y]) = is_nan (sum_numbers e' [x; c]).
Proof.
  intros Sz. pose proof subnormal_apart as Sa. pose proof normal_apart as Na. destruct (sum_of_two e x c F K N Px Sx (proj1 Sc)) as [n' [u' [s' [R' [V' Z']]]]].
  rewrite (R' e') by auto. cbn [out e' with_out]. unfold y. destruct (is_subnormal c) eqn:S.
  - destruct (sum_of_two e x z F K N Px Sx Sz) as [n [u [s [R [Vn Z]]]]]. rewrite (R e) by auto. fold o. rewrite (V_zero z Zz), Rplus_0_r in Vn.
    destruct (Sa eq_refl) as [Fv B]. destruct (is_zero x) eqn:X.
    + rewrite (V_zero x X) in Vn, V'. rewrite Rplus_0_l in V'.
      assert (N0 : n = 0) by (pose proof (bpow_gt_0 radix2 u); apply eq_IZR; nra). rewrite <- (positive_same s n u Z) by easy. rewrite N0, Z by auto.
      rewrite !flushed_zero; [auto| | | |]; rewrite ?V', ?Rmult_0_l; auto; [rewrite Rabs_R0; apply bpow_gt_0|apply generic_format_0].
    + assert (Nx : V x <> 0%R).
      { unfold V. intros Q. unfold is_zero in X. apply Z.eqb_neq in X. pose proof (bpow_gt_0 radix2 (lsb x)). assert (signed x <> 0) by (unfold signed; destruct (neg x); lia). apply H0. apply eq_IZR. nra. }
      destruct (multiple_real x g Mx) as [k Vx]. assert (Far : (bp g <= Rabs (V x))%R) by (rewrite Vx; apply (far g); rewrite <- Vx; exact Nx).
      assert (Q1 : flt_rnd o (IZR n * bp u) = V x) by (rewrite Vn; unfold flt_rnd; apply round_generic; auto with typeclass_instances).
      assert (Q2 : flt_rnd o (IZR n' * bp u') = V x) by (rewrite V'; apply near_rounded with g; auto; replace (V x + V c - V x)%R with (V c) by ring; exact B).
      assert (Sn : (n <? 0) = (n' <? 0)).
      { assert (Be : (bp (emin o) <= bp g)%R) by (apply bpow_le; lia). pose proof (bpow_gt_0 radix2 u) as Pu. pose proof (bpow_gt_0 radix2 u') as Pu'.
        destruct (Z.ltb_spec n 0) as [A|A], (Z.ltb_spec n' 0) as [A'|A']; auto; exfalso; apply IZR_lt in A || apply IZR_le in A; apply IZR_lt in A' || apply IZR_le in A';
          apply Rabs_lt_inv in B; unfold Rabs in Far; destruct (Rcase_abs (V x)); nra. }
      destruct (rounded_word o g P N G T fmt nan (with_zero_sign o Positive) s s' n n' u u' (V x) eq_refl Q1 Q2 Far Sn) as [Q [I1 I2]]. now rewrite Q, I1, I2.
  - rewrite (R' e) by auto. fold o. rewrite (positive_same s' n' u' Z'); [auto|]. intros Nn. rewrite V'. apply (Na eq_refl). rewrite <- V'. pose proof (bpow_gt_0 radix2 u'). intros Q. apply Nn, eq_IZR. nra.
Qed.
End Sums.

(** Where c is no subnormal number, no sum is. *)
Lemma flush_added e g : fraction_bits e = None -> carry_bits e = None -> 0 <= p (out e) -> nearest_mode (out e) = true -> emin (out e) + p (out e) + 2 <= g ->
  forall x c z, 0 <= sig x -> multiple g x -> (is_zero x = true -> neg x = false) -> 0 <= sig c < 2 ^ (frac c + 1) -> 0 <= frac c <= p (out e) -> emin (out e) <= exp c ->
  (is_subnormal c = true -> exp c = emin (out e)) -> (is_subnormal c = false -> is_zero c = true \/ 2 ^ frac c <= sig c) -> is_zero z = true -> 0 <= sig z ->
  sum_numbers e [x; if is_subnormal c then z else c] = sum_numbers (with_out e (with_flushes (out e) true)) [x; if is_subnormal c then z else c].
Proof.
  intros F K P N G x c z Sx Mx Px Sc Fc Ec Sub Nor Zz Sz. set (y := if is_subnormal c then z else c).
  assert (Sy : 0 <= sig y) by (unfold y; destruct (is_subnormal c); lia).
  destruct (sum_of_two e x y F K N Px Sx Sy) as [n [u [s [R [V' _]]]]]. rewrite (R e) by auto. rewrite (R (with_out e (with_flushes (out e) true))) by auto. cbn [out with_out]. symmetry. apply flushed_same; auto.
  intros Nn. pose proof (log2_mag n u Nn) as M. assert (emin (out e) + 1 <= mag radix2 (IZR n * bp u)); [|lia]. apply mag_ge_bpow. replace (emin (out e) + 1 - 1) with (emin (out e)) by lia.
  assert (Q : (V x + V y <> 0)%R) by (rewrite <- V'; pose proof (bpow_gt_0 radix2 u); intros Q; apply Nn, eq_IZR; nra). rewrite V'.
  pose proof (normal_apart e g P G x c Mx Sc Fc Ec Nor) as Na. unfold y in *. destruct (is_subnormal c); [|now apply Na].
  rewrite (V_zero z Zz), Rplus_0_r in Q |- *. destruct (multiple_real x g Mx) as [k Vx]. rewrite Vx in Q |- *. apply Rle_trans with (bp g); [apply bpow_le; lia|now apply far].
Qed.

(** * From words to words *)

(** Sums without c whose results count as what they are. *)
Fixpoint quiet_steps (r : flush_rule) (x : steps) : bool :=
  match x with C => false | Step s l => taken_whole r s && forallb (quiet_steps r) l | _ => true end.

Lemma quiet_same r ps c c' q default ns cw x : quiet_steps r x = true ->
  (eval_steps r ps c x = eval_steps Kept ps c' x /\ match x with Step _ _ => flush r (eval_steps r ps c x) = eval_steps r ps c x | _ => True end) /\
  steps_nan q default r ns ps c cw x = steps_nan q default Kept ns ps c' cw x.
Proof.
  induction x as [k| | |s l IH] using steps_ind'; intros Q; try easy. cbn [quiet_steps] in Q. apply andb_prop in Q. destruct Q as [T Q].
  assert (A : Forall (fun x => (eval_steps r ps c x = eval_steps Kept ps c' x /\ match x with Step _ _ => flush r (eval_steps r ps c x) = eval_steps r ps c x | _ => True end) /\
    steps_nan q default r ns ps c cw x = steps_nan q default Kept ns ps c' cw x) l).
  { apply Forall_forall. intros x Hx. rewrite Forall_forall in IH. rewrite forallb_forall in Q. apply IH; auto. }
  clear IH Q. assert (E : eval_steps r ps c (Step s l) = eval_steps Kept ps c' (Step s l)).
  { cbn [eval_steps]. f_equal. apply map_ext_in. intros x Hx. rewrite Forall_forall in A. destruct (A x Hx) as [[E W] _]. cbv zeta. destruct x; auto. rewrite W, E. now rewrite flush_kept. }
  split; [split; [exact E|cbn [eval_steps]; now apply taken_ok]|]. cbn [steps_nan]. rewrite E. destruct (negb _); [reflexivity|].
  assert (M : map (fun x => steps_nan q default r ns ps c cw x) l = map (fun x => steps_nan q default Kept ns ps c' cw x) l).
  { apply map_ext_in. intros x Hx. rewrite Forall_forall in A. apply (A x Hx). }
  now rewrite M.
Qed.

(** The sum of a tree and c, where it does not tell a subnormal c from a zero: subnormal results are zeros, and zeros +0. *)
Definition plain_rule (d : design) : option summation :=
  match sums d, term_bounds d, c_rule d with
  | InSteps (Step (Stage e) [Step (Stage s) l; C]), Some tb, PositiveZero | InSteps (Step (Stage e) [Step (Stage s) l; C]), Some tb, SignedZero =>
      let o := out e in let x := Step (Stage s) l in let cb := format_bounds (c_format d) in
      if negb (skips d) && match cutting_of d, composed d, zero_terms (factors d) with Whole, None, None => true | _, _, _ => false end && (0 <? Z.of_nat (block d)) &&
         format_ok (c_format d) && none (fraction_bits e) && none (carry_bits e) && range_ok o && nearest_mode o && negb (tiny o) &&
         (least (c_format d) =? emin o) && (fbits (c_format d) <=? p o) && match zsign (out s) with Positive => true | _ => false end &&
         (p (out s) =? p o) && (emin (out s) =? emin o) && quiet_steps (c_rule d) x && idle_steps Kept tb cb x x &&
         (emin o + p o + 2 <=? grid (sum_result (map (operand_bounds tb cb s) l) s))
      then Some (InSteps (Step (Stage (with_out e (with_zero_sign (with_flushes o true) Positive))) [x; C])) else None
  | _, _, _ => None
  end.

Lemma two_special r e e' x v : is_num x && is_num v = false -> sum_values e [x; flush r v] = sum_values e' [x; v].
Proof.
  intros H. assert (K : forall u, is_num u = is_num v -> special_sum [x; u] = special_sum [x; v] -> sum_values e [x; u] = sum_values e' [x; v]).
  { intros u Hu E. unfold sum_values, numbers. cbn [forallb]. rewrite Hu, andb_true_r, H. exact E. }
  apply K; unfold flush; destruct v as [y| |]; try reflexivity; destruct (negb (is_subnormal y)); try reflexivity; destruct r; reflexivity.
Qed.

Lemma result_format e s n u z : range_ok e = true -> convert e s n u = Num z -> generic_format radix2 (flt e) (V z).
Proof.
  intros O H. unfold range_ok in O. apply andb_prop in O. destruct O as [P M]. apply Z.leb_le in P, M. destruct (convert_shape _ _ _ _ _ P M H) as [[E _] S]. apply generic_format_FLT.
  destruct S as [[F [S _]]|[F S]].
  - exists (Float radix2 (signed z) (lsb z)); [reflexivity| |cbn; unfold lsb; lia]. cbn [Fnum]. change (Zpower radix2 (p e + 1)) with (2 ^ (p e + 1)). unfold signed. destruct (neg z); lia.
  - exists (Float radix2 (if neg z then -1 else 1) (exp z)); [|cbn [Fnum]; change (Zpower radix2 (p e + 1)) with (2 ^ (p e + 1)); pose proof (Z.pow_gt_1 2 (p e + 1)); destruct (neg z); lia|cbn; lia].
    unfold F2R, V, signed, lsb. cbn [Fnum Fexp]. rewrite S, F. replace (bp (exp z)) with (bp (p e + 1) * bp (exp z - (p e + 1)))%R by (rewrite <- bpow_plus; f_equal; lia).
    rewrite (bp_Z (p e + 1)) by lia. destruct (neg z); rewrite ?opp_IZR; ring.
Qed.

Theorem rule_idle d how w : plain_rule d = Some how -> length (pairs w) = block d -> compute d w = compute (with_sums (with_rule d Kept) how) w.
Proof.
  intros O L. unfold plain_rule in O. destruct (sums d) as [| | | | | | | |t] eqn:S; try discriminate O. destruct t as [| | |[e|] m]; try discriminate O. destruct m as [|y m]; try discriminate O.
  destruct y as [| | |[s|] l]; try discriminate O. destruct m as [|y m]; try discriminate O. destruct y; try discriminate O. destruct m; try discriminate O. destruct (term_bounds d) as [tb|] eqn:Tb; [|discriminate O].
  set (x := Step (Stage s) l) in *. set (cb := format_bounds (c_format d)) in *.
  assert (Rr : c_rule d = PositiveZero \/ c_rule d = SignedZero) by (destruct (c_rule d); auto; discriminate O).
  assert (O' : (if negb (skips d) && match cutting_of d, composed d, zero_terms (factors d) with Whole, None, None => true | _, _, _ => false end && (0 <? Z.of_nat (block d)) &&
         format_ok (c_format d) && none (fraction_bits e) && none (carry_bits e) && range_ok (out e) && nearest_mode (out e) && negb (tiny (out e)) &&
         (least (c_format d) =? emin (out e)) && (fbits (c_format d) <=? p (out e)) && match zsign (out s) with Positive => true | _ => false end &&
         (p (out s) =? p (out e)) && (emin (out s) =? emin (out e)) && quiet_steps (c_rule d) x && idle_steps Kept tb cb x x &&
         (emin (out e) + p (out e) + 2 <=? grid (sum_result (map (operand_bounds tb cb s) l) s))
      then Some (InSteps (Step (Stage (with_out e (with_zero_sign (with_flushes (out e) true) Positive))) [x; C])) else None) = Some how) by (destruct Rr as [Rr|Rr]; rewrite Rr in *; exact O).
  clear O. destruct (_ && _) eqn:G in O'; [|easy]. injection O' as <-. repeat rewrite andb_true_iff in G.
  destruct G as [[[[[[[[[[[[[[[[Sk W] B] Of] Fe] Ke] Re] Ne] Ti] Le] Lf] Zs] Ps] Es] Qx] Ix] Gr]. apply negb_true_iff in Sk, Ti. apply Z.ltb_lt in B. apply Z.eqb_eq in Le, Ps, Es. apply Z.leb_le in Lf, Gr.
  destruct (cutting_of d) eqn:Wc; try easy. destruct (composed d) eqn:Co; [easy|]. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  assert (Fe' : fraction_bits e = None) by now destruct (fraction_bits e). assert (Ke' : carry_bits e = None) by now destruct (carry_bits e).
  assert (Zs' : zsign (out s) = Positive) by now destruct (zsign (out s)). set (dk := with_rule d Kept). set (e' := with_out e _) in *. set (how := InSteps (Step (Stage e') [x; C])).
  assert (Bn : (0 < block d)%nat) by lia. rewrite (one_block d w Sk Wc Co Bn L), (one_block (with_sums dk how) w Sk Wc Co Bn L). change (elements (with_sums dk how) w) with (elements d w). set (xs := elements d w).
  change (c_format (with_sums dk how)) with (c_format d). change (d_format (with_sums dk how)) with (d_format d). change (start_of (with_sums dk how) (c_word w)) with (start_of d (c_word w)).
  remember (decode (c_format d) (c_word w)) as v eqn:Sv. set (n0 := snd (start_of d (c_word w))). unfold step_with. cbv zeta. rewrite S. change (sums (with_sums dk how)) with how.
  change (block_products (with_sums dk how) xs) with (block_products d xs). change (factor_nans (with_sums dk how) xs) with (factor_nans d xs). change (c_rule (with_sums dk how)) with Kept. change (taken_c (with_sums dk how) v) with (taken_c dk v). change (nan_of_block (with_sums dk how)) with (nan_of_block dk).
  assert (Td : taken_c d v = flush (c_rule d) v) by (unfold taken_c; rewrite Zt; apply zero_as_none).
  assert (Tk : taken_c dk v = v) by (unfold taken_c; change (factors dk) with (factors d); rewrite Zt, zero_as_none; apply flush_kept).
  rewrite Td, Tk. set (ps := block_products d xs). set (c1 := flush (c_rule d) v). unfold how. cbn [block_sum].
  assert (Cn : is_nan c1 = is_nan v) by (unfold c1, flush; destruct v as [y| |]; auto; destruct (negb (is_subnormal y)); auto; now destruct (c_rule d)).
  pose proof (quiet_same (c_rule d) ps c1 v) as Q. destruct (Q (nans d) (nan_word d) (factor_nans d xs) (if is_nan v then Some n0 else None) x Qx) as [[E1 E2] E3]. clear Q.
  assert (R1 : eval_steps (c_rule d) ps c1 (Step (Stage e) [x; C]) = sum_values e [eval_steps Kept ps v x; c1]).
  { cbn [eval_steps add map]. unfold x in *. cbv zeta. do 2 f_equal. now rewrite E2, E1. }
  assert (R2 : eval_steps Kept ps v (Step (Stage e') [x; C]) = sum_values e' [eval_steps Kept ps v x; v]).
  { cbn [eval_steps add map]. unfold x. cbv zeta. now rewrite flush_kept. }
  assert (M : Forall (made_by d) xs) by apply elements_made.
  assert (Main : forall nan, encode (d_format d) nan (sum_values e [eval_steps Kept ps v x; c1]) = encode (d_format d) nan (sum_values e' [eval_steps Kept ps v x; v]) /\
    is_nan (sum_values e [eval_steps Kept ps v x; c1]) = is_nan (sum_values e' [eval_steps Kept ps v x; v])).
  { intros nan. assert (Rs : range_ok (out s) = true) by (cbn [idle_steps x] in Ix; apply andb_prop in Ix; destruct Ix as [Ix _]; exact (idle_range _ _ _ _ Ix)).
    assert (Hc : inside cb v) by (subst v; now apply decode_inside).
    destruct (idle_steps_ok tb cb Kept ps v eq_refl (products_inside d tb xs Tb M) Hc x x Ix) as [_ In]. cbn [x] in In. fold x in In.
    destruct (eval_steps Kept ps v x) as [X| |] eqn:EX.
    2, 3: unfold c1; split; [f_equal|apply (f_equal is_nan)]; apply two_special; reflexivity.
    destruct v as [c| |]. 2, 3: unfold c1; split; [f_equal|apply (f_equal is_nan)]; apply two_special; reflexivity.
    destruct (decode_num _ _ _ Of (eq_sym Sv)) as [Sc [Fc [Lc Hcc]]]. pose proof Of as Of'. unfold format_ok in Of'. apply andb_prop in Of'. destruct Of' as [Fb _]. apply Z.leb_le in Fb.
    destruct (In X eq_refl) as [[Sx _] [_ [Mx _]]]. pose proof Re as Re'. unfold range_ok in Re'. apply andb_prop in Re'. destruct Re' as [Pe Me]. apply Z.leb_le in Pe, Me.
    assert (Cv : exists s0 n1 u1, convert (out s) s0 n1 u1 = Num X).
    { unfold x in EX. cbn [eval_steps add] in EX. unfold sum_values in EX. destruct (numbers _); [|exfalso; now apply (special_not_num _ X EX)]. unfold sum_numbers in EX. eauto. }
    destruct Cv as [s0 [n1 [u1 Cv]]]. set (z := {| neg := match c_rule d with SignedZero => neg c | _ => false end; sig := 0; exp := exp c; frac := frac c |}).
    assert (C1 : c1 = Num (if is_subnormal c then z else c)).
    { unfold c1, flush, z. destruct (is_subnormal c); cbn [negb]; [destruct Rr as [-> | ->]; reflexivity|reflexivity]. }
    rewrite C1. change (sum_values e [Num X; Num (if is_subnormal c then z else c)]) with (sum_numbers e [X; if is_subnormal c then z else c]).
    change (sum_values e' [Num X; Num c]) with (sum_numbers e' [X; c]).
    set (g := grid (sum_result (map (operand_bounds tb cb s) l) s)) in *. set (e1 := with_out e (with_flushes (out e) true)).
    assert (Zz : is_zero z = true /\ 0 <= sig z) by (unfold z, is_zero; cbn; lia).
    assert (Sub : is_subnormal c = true -> exp c = emin (out e)).
    { intros Sb. unfold is_subnormal in Sb. apply andb_prop in Sb. destruct Sb as [_ Sb]. apply Z.ltb_lt in Sb. destruct Hcc as [Hcc|Hcc]; [|lia]. exfalso. rewrite Fc in Sb.
      assert (fbits (c_format d) <= Z.log2 (sig c)); [|lia]. rewrite <- (Z.log2_pow2 (fbits (c_format d))) by lia. apply Z.log2_le_mono. lia. }
    assert (Nor : is_subnormal c = false -> is_zero c = true \/ 2 ^ frac c <= sig c).
    { intros Sb. destruct (is_zero c) eqn:Zc; auto. right. unfold is_subnormal in Sb. rewrite Zc in Sb. cbn [negb andb] in Sb. apply Z.ltb_ge in Sb. unfold is_zero in Zc. apply Z.eqb_neq in Zc.
      apply Z.log2_le_pow2; lia. }
    assert (Px : is_zero X = true -> neg X = false) by (intros Zx; apply (positive_zero (out s) s0 n1 u1); auto; lia).
    rewrite (flush_added e g Fe' Ke' Pe Ne Gr X c z Sx Mx Px ltac:(rewrite Fc; lia) ltac:(lia) ltac:(lia) Sub Nor (proj1 Zz) (proj2 Zz)).
    fold e1. change e' with (with_out e1 (with_zero_sign (out e1) Positive)).
    apply (two_same e1 g); auto; try apply Zz; try (cbn [out e1 with_out p emin tiny flushes with_flushes]; lia); [|rewrite Fc; lia].
    pose proof (result_format _ _ _ _ _ Rs Cv) as Gf. unfold flt in *. cbn [out e1 with_out emin p with_flushes]. rewrite Ps, Es in Gf. exact Gf. }
  rewrite R1, R2, Cn. pose proof (proj2 (Main 0)) as Nn. rewrite <- Nn.
  assert (Eq : (if negb (is_nan (sum_values e [eval_steps Kept ps v x; c1])) then n0 else nan_of_block d (InSteps (Step (Stage e) [x; C])) (factor_nans d xs) ps c1 (if is_nan v then Some n0 else None)) =
    (if negb (is_nan (sum_values e [eval_steps Kept ps v x; c1])) then n0 else nan_of_block dk (InSteps (Step (Stage e') [x; C])) (factor_nans d xs) ps v (if is_nan v then Some n0 else None))); [|rewrite Eq; apply Main].
  destruct (negb _) eqn:Ng; [reflexivity|]. unfold nan_of_block. change (nans dk) with (nans d). change (nan_word dk) with (nan_word d). change (c_rule dk) with Kept.
  assert (St : steps_nan (nans d) (nan_word d) (c_rule d) (factor_nans d xs) ps c1 (if is_nan v then Some n0 else None) (Step (Stage e) [x; C]) =
    steps_nan (nans d) (nan_word d) Kept (factor_nans d xs) ps v (if is_nan v then Some n0 else None) (Step (Stage e') [x; C])).
  { cbn [steps_nan]. rewrite R1, R2, <- Nn, Ng. cbn [map]. now rewrite E3. }
  destruct (nans d); auto; now rewrite St.
Qed.
