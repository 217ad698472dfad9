(** Blocks of products of zero leave what a sum in a frame before them gave as it is: complements of zeros are too few units to
    change a rounding to nearest. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Again Losses Accumulated Trees Summations Exact Orders Paths Growth Down FrameErrors.
Import ListNotations.
Open Scope R_scope.

(** * A number that is less by a quarter of an ulp at most is rounded back *)

Lemma nearest_even_of m n : (Z.even n = true /\ IZR n - / 2 <= m \/ IZR n - / 4 <= m) -> m <= IZR n -> ZnearestE m = n.
Proof.
  intros H L. destruct (Rlt_or_le (IZR n - / 2) m) as [S|S]; [apply Znearest_imp; apply Rabs_lt; lra|].
  destruct H as [[Ev H]|H]; [|lra]. assert (M : m = IZR n - / 2) by lra.
  assert (F : Zfloor m = (n - 1)%Z) by (apply Zfloor_imp; rewrite plus_IZR, minus_IZR; lra).
  assert (C : Zceil m = n) by (apply Zceil_imp; rewrite minus_IZR; lra).
  unfold Znearest. rewrite F, C. rewrite Rcompare_Eq by (rewrite minus_IZR; lra).
  assert (O : Z.even (n - 1) = false) by (rewrite Z.even_sub, Ev; reflexivity). rewrite O. reflexivity.
Qed.

Lemma nearest_back fexp k e q x : (0 <= q)%Z ->
  cexp radix2 fexp x = (e - q)%Z \/ (cexp radix2 fexp x = (e - q - 1)%Z /\ k = 2 ^ q)%Z ->
  IZR k * bp (e - q) - bp (e - q - 2) <= x <= IZR k * bp (e - q) -> round radix2 fexp ZnearestE x = IZR k * bp (e - q).
Proof.
  intros Q C [L U]. unfold round, F2R, scaled_mantissa. cbn [Fnum Fexp].
  assert (S : forall i y, (y * bp i) * bp (- i) = y) by (intros; rewrite Rmult_assoc, <- bpow_plus, Z.add_opp_diag_r; cbn; ring).
  assert (P : forall i a b, a <= b -> a * bp (- i) <= b * bp (- i)) by (intros; apply Rmult_le_compat_r; [apply bpow_ge_0|auto]).
  destruct C as [->|[-> ->]].
  - assert (N : ZnearestE (x * bp (- (e - q))) = k); [|now rewrite N]. apply nearest_even_of.
    + right. pose proof (P (e - q)%Z _ _ L) as L'. rewrite Rmult_minus_distr_r, S in L'. rewrite <- bpow_plus in L'.
      replace (e - q - 2 + - (e - q))%Z with (-2)%Z in L' by lia. change (bp (-2)) with (/ 4) in L'. exact L'.
    + pose proof (P (e - q)%Z _ _ U) as U'. now rewrite S in U'.
  - assert (D : IZR (2 ^ q) * bp (e - q) = IZR (2 * 2 ^ q) * bp (e - q - 1)).
    { rewrite mult_IZR. replace (e - q)%Z with (1 + (e - q - 1))%Z at 1 by lia. rewrite (bpow_plus radix2 1). change (bp 1) with 2. ring. }
    rewrite D in *. assert (N : ZnearestE (x * bp (- (e - q - 1))) = (2 * 2 ^ q)%Z); [|now rewrite N]. apply nearest_even_of.
    + left. split; [now rewrite Z.even_mul|]. pose proof (P (e - q - 1)%Z _ _ L) as L'. rewrite Rmult_minus_distr_r, S in L'. rewrite <- bpow_plus in L'.
      replace (e - q - 2 + - (e - q - 1))%Z with (-1)%Z in L' by lia. change (bp (-1)) with (/ 2) in L'. exact L'.
    + pose proof (P (e - q - 1)%Z _ _ U) as U'. now rewrite S in U'.
Qed.

(** What a conversion to q fraction bits holds: k 2^(e-q), with a leading bit at 2^e, or below it where e is the least exponent. *)
Definition holds (c : conversion) (k e : Z) : Prop := (emin c <= e)%Z /\ (2 ^ p c <= k < 2 ^ (p c + 1) \/ e = emin c /\ 0 < k < 2 ^ p c)%Z.

Lemma holds_kept c k e : (0 <= p c)%Z -> holds c k e -> flt_rnd c (IZR k * bp (e - p c)) = IZR k * bp (e - p c) /\
  flx_rnd c (IZR k * bp (e - p c)) = IZR k * bp (e - p c).
Proof.
  intros P [E K]. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  assert (L : (0 < k < 2 ^ (p c + 1))%Z).
  { assert (0 < 2 ^ p c)%Z by (apply Z.pow_pos_nonneg; lia). assert (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z by (rewrite Z.add_1_r, Z.pow_succ_r; lia). lia. }
  split; unfold flt_rnd, flx_rnd, flt; apply round_generic; auto with typeclass_instances.
  - apply generic_format_FLT. exists (Float radix2 k (e - p c)); [reflexivity| |]; cbn [Fnum Fexp]; change (radix2 : Z) with 2%Z; lia.
  - apply generic_format_FLX. exists (Float radix2 k (e - p c)); [reflexivity|]. cbn [Fnum]. change (radix2 : Z) with 2%Z. lia.
Qed.

Lemma holds_back c k e x : (0 <= p c)%Z -> rho c = RNE -> holds c k e ->
  IZR k * bp (e - p c) - bp (e - p c - 2) <= x <= IZR k * bp (e - p c) ->
  flt_rnd c x = IZR k * bp (e - p c) /\ ((2 ^ p c <= k)%Z -> flx_rnd c x = IZR k * bp (e - p c)).
Proof.
  intros P Rn [E K] X. unfold flt_rnd, flx_rnd. rewrite Rn. cbn [rnd].
  assert (P2 : (0 < 2 ^ p c)%Z) by (apply Z.pow_pos_nonneg; lia). assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  assert (k0 : 1 <= IZR k) by (apply IZR_le; lia). pose proof (bpow_gt_0 radix2 (e - p c - 2)) as B2.
  assert (B4 : bp (e - p c) = 4 * bp (e - p c - 2)) by (replace (e - p c)%Z with (2 + (e - p c - 2))%Z at 1 by lia; rewrite (bpow_plus radix2 2); change (bp 2) with 4; ring).
  assert (X0 : 0 < x) by nra.
  assert (Top : x < bp (e + 1)).
  { eapply Rle_lt_trans; [apply X|]. replace (e + 1)%Z with ((p c + 1) + (e - p c))%Z by lia. rewrite bpow_plus, (bp_Z (p c + 1)) by lia.
    apply Rmult_lt_compat_r; [apply bpow_gt_0|]. apply IZR_lt. lia. }
  assert (Be : bp e = IZR (2 ^ p c) * bp (e - p c)) by (rewrite <- bp_Z, <- bpow_plus by lia; f_equal; lia).
  (* the leading bit of x *)
  assert (Mg : (2 ^ p c <= k)%Z -> (mag radix2 x : Z) = (e + 1)%Z \/ ((mag radix2 x : Z) = e /\ k = 2 ^ p c)%Z).
  { intros Lk. destruct (Rle_or_lt (bp e) x) as [h|h].
    - left. apply mag_unique. rewrite Rabs_pos_eq by lra. replace (e + 1 - 1)%Z with e by lia. lra.
    - right. assert (Kp : k = (2 ^ p c)%Z).
      { destruct (Z.eq_dec k (2 ^ p c)) as [|Nk]; auto. exfalso. assert (IZR (2 ^ p c) + 1 <= IZR k) by (rewrite <- plus_IZR; apply IZR_le; lia). nra. }
      split; auto. apply mag_unique. rewrite Rabs_pos_eq by lra. split; [|exact h].
      assert (Half : bp e = 2 * bp (e - 1)) by (replace e with (1 + (e - 1))%Z at 1 by lia; rewrite (bpow_plus radix2 1); change (bp 1) with 2; ring).
      pose proof (bpow_gt_0 radix2 e). rewrite Kp in X. rewrite <- Be in X.
      assert (P1 : 1 <= IZR (2 ^ p c)) by (apply IZR_le; lia). assert (4 * bp (e - p c - 2) <= bp e) by (rewrite Be, B4; nra). lra. }
  split.
  - apply nearest_back; auto. unfold cexp, flt, FLT_exp. destruct K as [[K1 K2]|[K1 K2]].
    + destruct (Mg K1) as [->|[-> ->]]; [left; lia|]. destruct (Z.eq_dec e (emin c)); [left; lia|right; split; [lia|auto]].
    + left. assert (M : (mag radix2 x <= e)%Z); [|lia]. apply mag_le_bpow; [lra|]. rewrite Rabs_pos_eq by lra. eapply Rle_lt_trans; [apply X|].
      rewrite Be. apply Rmult_lt_compat_r; [apply bpow_gt_0|]. apply IZR_lt. lia.
  - intros Lk. apply nearest_back; auto. unfold cexp, FLX_exp. destruct (Mg Lk) as [->|[-> ->]]; [left; lia|right; split; [lia|auto]].
Qed.

(** The same with a sign, flushed. *)
Definition near_below (q : Z) (z : num) (x : R) : Prop := exists t, 0 <= t <= bp (exp z - q - 2) /\ x = V z - direction z * t.

Lemma rounded_back c z k x : monotone_conv c = true -> holds c k (exp z) -> V z = direction z * (IZR k * bp (exp z - p c)) ->
  (flushes c = true -> 2 ^ p c <= k)%Z -> (x = V z \/ (rho c = RNE /\ near_below (p c) z x)) -> flushed_rnd c x = V z.
Proof.
  intros M H Vz Fl X. assert (P : (0 <= p c)%Z) by (unfold monotone_conv in M; apply andb_prop in M; lia).
  set (v := IZR k * bp (exp z - p c)) in *.
  assert (Neg : forall f y, f = flt_rnd c \/ f = flx_rnd c -> rho c = RNE -> f (- y) = - f y).
  { intros f y Hf Rn. destruct Hf as [-> | ->]; unfold flt_rnd, flx_rnd; rewrite Rn; cbn [rnd]; apply round_NE_opp. }
  assert (R : flt_rnd c x = V z /\ ((2 ^ p c <= k)%Z -> flx_rnd c x = V z)).
  { destruct X as [->|[Rn [t [T ->]]]].
    - destruct (holds_kept c k (exp z) P H) as [A B]. fold v in A, B.
      assert (N : forall m u, round radix2 u (rnd m) v = v -> generic_format radix2 u v -> round radix2 u (rnd m) (- v) = - v).
      { intros m u _ G. apply round_generic; auto with typeclass_instances. now apply generic_format_opp. }
      assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
      assert (G1 : generic_format radix2 (flt c) v) by (rewrite <- A; unfold flt_rnd, flt; apply generic_format_round; auto with typeclass_instances).
      assert (G2 : generic_format radix2 (FLX_exp (p c + 1)) v) by (rewrite <- B; unfold flx_rnd; apply generic_format_round; auto with typeclass_instances).
      rewrite Vz. unfold direction. destruct (neg z); [replace (-1 * v) with (- v) by ring|rewrite Rmult_1_l; auto].
      split; [|intros _]; [apply (N (rho c) (flt c) A G1)|apply (N (rho c) _ B G2)].
    - destruct (holds_back c k (exp z) (v - t) P Rn H) as [A B]; [fold v; lra|]. fold v in A, B. rewrite Vz. unfold direction. destruct (neg z).
      + replace (-1 * v - -1 * t) with (- (v - t)) by ring. rewrite !Neg by auto. split; [rewrite A; ring|]. intros Lk. rewrite (B Lk). ring.
      + replace (1 * v - 1 * t) with (v - t) by ring. split; [rewrite A; ring|]. intros Lk. rewrite (B Lk). ring. }
  destruct R as [R1 R2]. unfold flushed_rnd. destruct (flushes c) eqn:F; [|exact R1]. specialize (Fl eq_refl). specialize (R2 Fl).
  assert (Big : bp (emin c) <= Rabs (V z)).
  { rewrite Vz, Rabs_mult. assert (D1 : Rabs (direction z) = 1) by (unfold direction; destruct (neg z); [rewrite Rabs_left1|rewrite Rabs_R1]; lra). rewrite D1, Rmult_1_l.
    assert (v0 : 0 <= v) by (apply Rmult_le_pos; [apply IZR_le; pose proof (Z.pow_nonneg 2 (p c)); lia|apply bpow_ge_0]). rewrite Rabs_pos_eq by exact v0.
    unfold v. destruct H as [E _]. apply Rle_trans with (bp (exp z)); [now apply bpow_le|]. replace (exp z) with (p c + (exp z - p c))%Z at 1 by lia.
    rewrite bpow_plus, (bp_Z (p c)) by lia. apply Rmult_le_compat_r; [apply bpow_ge_0|]. now apply IZR_le. }
  unfold vanishes. rewrite R1, R2, Rlt_bool_false by exact Big. rewrite andb_false_r. reflexivity.
Qed.

(** ** Results *)

(** What a conversion gave, it holds. *)
Lemma result_holds c s n u z : monotone_conv c = true -> (emin c <= emax c)%Z -> convert c s n u = Num z -> is_zero z = false ->
  exists k, holds c k (exp z) /\ V z = direction z * (IZR k * bp (exp z - p c)) /\ (flushes c = true -> 2 ^ p c <= k)%Z /\ (exp z <= emax c)%Z /\ (0 < sig z)%Z /\
    IZR (sig z) * bp (- frac z) = IZR k * bp (- p c).
Proof.
  intros M Em H Z. assert (P : (0 <= p c)%Z) by (unfold monotone_conv in M; apply andb_prop in M; lia).
  destruct (convert_shape _ _ _ _ _ P Em H) as [[E1 E2] Sh]. unfold is_zero in Z. apply Z.eqb_neq in Z.
  assert (P2 : (0 < 2 ^ p c)%Z) by (apply Z.pow_pos_nonneg; lia). assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  set (k := if (frac z =? p c)%Z then sig z else (2 ^ p c)%Z).
  assert (K : (sig z = k /\ frac z = p c \/ sig z = 2 * k /\ frac z = p c + 1 /\ k = 2 ^ p c)%Z).
  { unfold k. destruct Sh as [[-> S]|[-> ->]]; [rewrite Z.eqb_refl; now left|]. destruct (Z.eqb_spec (p c + 1) (p c)); [lia|]. right. lia. }
  assert (Sg : (0 < sig z)%Z) by (destruct Sh as [[_ [? _]]|[_ ->]]; lia).
  assert (Q : IZR (sig z) * bp (- frac z) = IZR k * bp (- p c)).
  { destruct K as [[-> ->]|[-> [-> _]]]; [reflexivity|]. rewrite mult_IZR. replace (- p c)%Z with (1 + - (p c + 1))%Z by lia. rewrite (bpow_plus radix2 1). change (bp 1) with 2. ring. }
  assert (V1 : V z = direction z * (IZR k * bp (exp z - p c))).
  { unfold V, signed, lsb, direction. replace (exp z - frac z)%Z with (exp z + - frac z)%Z by lia. replace (exp z - p c)%Z with (exp z + - p c)%Z by lia. rewrite !bpow_plus.
    assert (T : IZR (sig z) * (bp (exp z) * bp (- frac z)) = bp (exp z) * (IZR k * bp (- p c))) by (rewrite <- Q; ring).
    destruct (neg z); [rewrite opp_IZR|]; lra. }
  exists k. split; [|split; [exact V1|split; [|split; [lia|split; [exact Sg|exact Q]]]]].
  - split; [exact E1|]. destruct K as [[K1 K2]|[K1 [K2 K3]]]; [|left; lia]. destruct Sh as [[_ [S1 [S2|S2]]]|[S1 _]]; [|left; lia|lia].
    destruct (Z_le_gt_dec (2 ^ p c) (sig z)); [left; lia|right; lia].
  - intros F. destruct (Z_le_gt_dec (2 ^ p c) k) as [|G]; auto. exfalso.
    assert (Vz : V z <> 0). { intros V0. pose proof (V_nothing z V0) as Zz. unfold is_zero in Zz. apply Z.eqb_eq in Zz. lia. }
    pose proof (convert_num_flushed _ _ _ _ _ M H) as C. unfold flushed_rnd in C. rewrite F in C. cbn [andb] in C.
    destruct (vanishes c (IZR n * bp u)) eqn:Va; [congruence|]. unfold vanishes in Va. apply orb_false_elim in Va. destruct Va as [Va _]. rewrite <- C in Va.
    assert (Small : Rabs (V z) < bp (emin c)).
    { destruct K as [[K1 K2]|[_ [_ K3]]]; [|lia]. destruct Sh as [[_ [S1 [S2|S2]]]|[S1 _]]; [|lia|lia].
      rewrite V1, Rabs_mult. assert (D1 : Rabs (direction z) = 1) by (unfold direction; destruct (neg z); [rewrite Rabs_left1|rewrite Rabs_R1]; lra). rewrite D1, Rmult_1_l.
      rewrite Rabs_pos_eq by (apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]). replace (emin c) with (p c + (exp z - p c))%Z by lia. rewrite bpow_plus, (bp_Z (p c)) by lia.
      apply Rmult_lt_compat_r; [apply bpow_gt_0|]. apply IZR_lt. lia. }
    rewrite Rlt_bool_true in Va by exact Small. discriminate Va.
Qed.

(** Two results of one value are alike. *)
Lemma value_like c s t n m u v y z : monotone_conv c = true -> (emin c <= emax c)%Z -> convert c s n u = Num y -> convert c t m v = Num z ->
  V y = V z -> is_zero z = false -> like y z.
Proof.
  intros M Em Hy Hz E Z. assert (P : (0 <= p c)%Z) by (unfold monotone_conv in M; apply andb_prop in M; lia).
  assert (Zy : is_zero y = false).
  { destruct (is_zero y) eqn:Zy; auto. pose proof (V_zero y Zy) as V0. rewrite E in V0. now rewrite (V_nothing z V0) in Z. }
  destruct (result_holds _ _ _ _ _ M Em Hy Zy) as [i [Hi [Vi [_ [_ [Si Qi]]]]]]. destruct (result_holds _ _ _ _ _ M Em Hz Z) as [k [Hk [Vk [_ [_ [Sk Qk]]]]]].
  assert (Pos : forall i e, holds c i e -> 0 < IZR i * bp (e - p c)).
  { intros j e [_ H]. assert (0 < 2 ^ p c)%Z by (apply Z.pow_pos_nonneg; lia). apply Rmult_lt_0_compat; [apply IZR_lt; lia|apply bpow_gt_0]. }
  pose proof (Pos _ _ Hi) as Pi. pose proof (Pos _ _ Hk) as Pk. unfold direction in Vi, Vk.
  assert (Nn : neg y = neg z) by (destruct (neg y), (neg z); auto; exfalso; lra).
  assert (Eq : IZR i * bp (exp y - p c) = IZR k * bp (exp z - p c)) by (rewrite <- Nn in Vk; destruct (neg y); lra).
  assert (Ex : forall i e j g, holds c i e -> holds c j g -> IZR i * bp (e - p c) = IZR j * bp (g - p c) -> (e <= g)%Z).
  { intros a e b g [He Ha] [Hg Hb] Q. destruct (Z_le_gt_dec e g) as [|G]; auto. exfalso. assert (A : (2 ^ p c <= a)%Z) by lia.
    assert (B : (b < 2 ^ (p c + 1))%Z) by (assert (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z by (rewrite Z.add_1_r, Z.pow_succ_r; lia); lia).
    assert (L : bp e <= IZR a * bp (e - p c)).
    { replace e with (p c + (e - p c))%Z at 1 by lia. rewrite bpow_plus, (bp_Z (p c)) by lia. apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le]. }
    assert (U : IZR b * bp (g - p c) < bp (g + 1)).
    { replace (g + 1)%Z with ((p c + 1) + (g - p c))%Z by lia. rewrite bpow_plus, (bp_Z (p c + 1)) by lia. apply Rmult_lt_compat_r; [apply bpow_gt_0|now apply IZR_lt]. }
    assert (bp (g + 1) <= bp e) by (apply bpow_le; lia). lra. }
  assert (Ee : exp y = exp z) by (pose proof (Ex _ _ _ _ Hi Hk Eq); pose proof (Ex _ _ _ _ Hk Hi (eq_sym Eq)); lia).
  split; [exact Nn|]. split; [exact Ee|]. rewrite Qi, Qk. f_equal. rewrite Ee in Eq. apply Rmult_eq_reg_r in Eq; [exact Eq|]. pose proof (bpow_gt_0 radix2 (exp z - p c)). lra.
Qed.

(** * Blocks of zeros *)

Definition applied_first (f : frame) : conversion := match first_rounding f with Some g => g | None => frame_out f end.

(** Binary places that keep complements of a block's zeros below a quarter of an ulp. *)
Definition slack (f : frame) (n : Z) : Z := if complement f then (2 + Z.log2_up n)%Z else 0%Z.

Definition frame_blocks_ok (d : design) : bool :=
  match sums d with
  | Framed f => let c := frame_out f in let r := applied_first f in let q := (p r + slack f (Z.of_nat (block d)))%Z in
      framed_ok f && zeros_bounded f && (emin c <=? emax c)%Z && (p c <=? p r)%Z && (emin r =? emin c)%Z && (emax c <=? emax r)%Z && eqb (flushes r) (flushes c) &&
      match zsign c with Positive => true | SumSign => match first_rounding f with Some g => flushes g | None => false end | IeeeSign => false end &&
      (negb (complement f) || match rho r with RNE => true | _ => false end) && (q <=? Design.c_bits f)%Z &&
      match frame_zero f, group_size f with ZeroAt z, None => (z - frame_bits f + q <=? emin c)%Z | _, _ => true end &&
      match c_rule d with Kept => true | HiddenBit => false | _ => flushes c end &&
      match cutting_of d, zero_terms (factors d), composed d with Whole, None, None => true | _, _, _ => false end && negb (skips d) && (0 <? Z.of_nat (block d))%Z
  | _ => false
  end.

Lemma framed_rounded f s n u : match first_rounding f with
    | None => convert (frame_out f) (s (frame_out f)) n u
    | Some g => match convert g (s g) n u with Num x => round_num (Floating (frame_out f)) x | v => v end
    end = match convert (applied_first f) (s (applied_first f)) n u with
          | Num x => match first_rounding f with Some _ => round_num (Floating (frame_out f)) x | None => Num x end | v => v end.
Proof. unfold applied_first. destruct (first_rounding f); [reflexivity|]. now destruct (convert (frame_out f) (s (frame_out f)) n u). Qed.

Lemma finite_back c s n u z : monotone_conv c = true -> flushed_rnd c (IZR n * bp u) = V z -> V z <> 0 -> Rabs (V z) < bp (emax c + 1) ->
  exists y, convert c s n u = Num y /\ V y = V z.
Proof.
  intros M E N B. destruct (convert_finite_flushed c s n u M) as [y Hy].
  - unfold flushed_rnd in E. destruct (flushes c && vanishes c (IZR n * bp u)); [congruence|]. now rewrite E.
  - exists y. split; [exact Hy|]. rewrite <- E. exact (convert_num_flushed _ _ _ _ _ M Hy).
Qed.

Section Zeros.
Variables (f : frame) (n : Z).
Hypothesis (Ok : framed_ok f = true) (Zo : zeros_bounded f = true) (N : (1 <= n)%Z).

Lemma zeros_taken us c : forallb is_zero us = true -> (Z.of_nat (length us) <= n)%Z -> forall g, exists t,
  0 <= t <= IZR n * bp g /\ (complement f = false -> t = 0) /\ IZR (zsum (frame_counts f g us c)) * bp g = - (direction c * t).
Proof.
  intros Z L g. pose proof (bpow_gt_0 radix2 g) as B. assert (N0 : 0 <= IZR n * bp g) by (apply Rmult_le_pos; [apply IZR_le; lia|lra]).
  destruct (group_size f) as [size|] eqn:G.
  - exists 0. split; [lra|]. split; [auto|]. assert (E : zsum (frame_counts f g us c) = 0%Z); [|rewrite E; ring].
    unfold frame_counts. rewrite G. assert (F : Forall (fun k => forallb is_zero k = true) (cut_list (length us) size us)).
    { eapply Forall_impl; [|apply (cut_list_Forall (fun x => is_zero x = true) size (length us) us)].
      - intros k Hk. apply forallb_forall. now rewrite Forall_forall in Hk.
      - apply Forall_forall. now apply forallb_forall. }
    induction F as [|k r Hk F IH]; [reflexivity|]. cbn [map]. change (zsum (?a :: ?l)) with (a + zsum l)%Z. rewrite IH.
    assert (E : filter (fun x => negb (is_zero x)) k = []).
    { clear -Hk. induction k as [|x k IH]; auto. cbn in *. apply andb_prop in Hk. destruct Hk as [H1 H2]. rewrite H1. cbn. auto. }
    rewrite E. cbn [map zsum fold_right]. now rewrite round_div_0.
  - unfold frame_counts. rewrite G. change (map _ us) with (map (one_count f g c) us).
    assert (Q : exists j, (0 <= j <= Z.of_nat (length us))%Z /\ (complement f = false -> j = 0%Z) /\ zsum (map (one_count f g c) us) = (if neg c then j else - j)%Z).
    { clear L N0. induction us as [|x r IH]; [exists 0%Z; cbn; repeat split; auto; try lia; now destruct (neg c)|].
      cbn [forallb] in Z. apply andb_prop in Z. destruct Z as [Zx Zr]. destruct (IH Zr) as [j [J1 [J2 J3]]].
      cbn [map length]. change (zsum (?a :: ?l)) with (a + zsum l)%Z. rewrite J3. unfold one_count. rewrite cut_zero by auto.
      destruct (complement f) eqn:C; cbn [andb].
      - destruct (xorb (neg x) (neg c)); [exists (j + 1)%Z|exists j]; (split; [lia|split; [easy|]]); destruct (neg c); lia.
      - exists j. split; [lia|]. split; [auto|]. lia. }
    destruct Q as [j [J1 [J2 ->]]]. exists (IZR j * bp g). split; [split|split].
    + apply Rmult_le_pos; [apply IZR_le; lia|lra].
    + apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia.
    + intros C. rewrite (J2 C). ring.
    + unfold direction. destruct (neg c); [|rewrite opp_IZR]; ring.
Qed.

(** Beside a number that is not zero, zeros ask for no larger unit, or for that of their own exponent. *)
Lemma zeros_unit us z : forallb is_zero us = true -> is_zero z = false ->
  frame_unit f us z = (exp z - Design.c_bits f)%Z \/ exists e, frame_zero f = ZeroAt e /\ group_size f = None /\ frame_unit f us z = (e - frame_bits f)%Z.
Proof.
  intros Zu Zz. unfold frame_unit. set (zeros := match group_size f with Some _ => false | None => true end).
  destruct (omax_list (grid_of f (Design.c_bits f) true z :: map (grid_of f (frame_bits f) zeros) us)) as [g|] eqn:T.
  - apply omax_in in T. destruct T as [T|T].
    + left. unfold grid_of in T. rewrite Zz in T. cbn [negb] in T. now injection T as ->.
    + apply in_map_iff in T. destruct T as [x [T Hx]]. rewrite forallb_forall in Zu. unfold grid_of in T. rewrite (Zu x Hx) in T. cbn [negb] in T.
      unfold zeros in T. destruct (group_size f); cbn [negb] in T; [discriminate|]. unfold zeros_bounded in Zo. destruct (frame_zero f) as [| |e]; [discriminate|easy|].
      injection T as <-. right. now exists e.
  - exfalso. unfold omax_list in T. cbn [fold_right] in T. unfold grid_of in T at 1. rewrite Zz in T. cbn [negb] in T.
    destruct (fold_right omax None (map (grid_of f (frame_bits f) zeros) us)); discriminate T.
Qed.
End Zeros.

Lemma converts_zero c s u : match zsign c with IeeeSign => false | _ => true end = true ->
  convert c s 0 u = Num {| neg := false; sig := 0; exp := emin c; frac := p c |}.
Proof. intros Z. unfold convert. rewrite round_div_0. cbn. now destruct (zsign c). Qed.

Lemma large_stays c y : (0 <= p c)%Z -> bp (emin c) <= Rabs y -> flushed_rnd c y <> 0.
Proof.
  intros P L. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). pose proof (bpow_gt_0 radix2 (emin c)) as B.
  assert (A : bp (emin c) <= Rabs (flt_rnd c y)).
  { unfold flt_rnd, flt. apply abs_round_ge_generic; auto with typeclass_instances. apply generic_format_FLT_bpow; auto. lia. }
  assert (X : bp (emin c) <= Rabs (flx_rnd c y)).
  { unfold flx_rnd. apply abs_round_ge_generic; auto with typeclass_instances. apply generic_format_bpow. unfold FLX_exp. lia. }
  unfold flushed_rnd, vanishes. rewrite !Rlt_bool_false by auto. rewrite andb_false_r, andb_false_r. intros E. rewrite E, Rabs_R0 in A. lra.
Qed.

Definition framed_value_of (f : frame) (v : val) : Prop := forall z, v = Num z -> exists ps c, framed_sum f ps c = Num z.

Section Blocks.
Variables (d : design) (f : frame).
Hypothesis (S : sums d = Framed f) (O : frame_blocks_ok d = true).
Let c := frame_out f.
Let r := applied_first f.
Let n := Z.of_nat (block d).

Lemma blocks_parts : framed_ok f = true /\ zeros_bounded f = true /\ (emin c <= emax c)%Z /\ (0 <= p c <= p r)%Z /\ emin r = emin c /\ (emax c <= emax r)%Z /\
  flushes r = flushes c /\ monotone_conv c = true /\ monotone_conv r = true /\
  (zsign c = Positive \/ zsign c = SumSign /\ exists g, first_rounding f = Some g /\ flushes g = true) /\
  (complement f = true -> rho r = RNE) /\ (p r + slack f n <= Design.c_bits f)%Z /\
  (forall z, frame_zero f = ZeroAt z -> group_size f = None -> z - frame_bits f + (p r + slack f n) <= emin c)%Z /\
  (c_rule d = Kept \/ (c_rule d <> HiddenBit /\ flushes c = true)) /\ cutting_of d = Whole /\ zero_terms (factors d) = None /\ skips d = false /\ (1 <= n)%Z.
Proof.
  pose proof O as O'. unfold frame_blocks_ok in O'. rewrite S in O'. cbv zeta in O'. repeat rewrite andb_true_iff in O'.
  destruct O' as [[[[[[[[[[[[[[A B] C] D] E] F] G] H] I] J] K] L] Q] T] N].
  apply Z.leb_le in C, D, F, J. apply Z.eqb_eq in E. apply eqb_prop in G. apply negb_true_iff in T. apply Z.ltb_lt in N.
  pose proof A as A'. unfold framed_ok in A'. repeat rewrite andb_true_iff in A'. destruct A' as [[[M1 M2] _] _].
  assert (P : (0 <= p c)%Z) by (unfold monotone_conv in M1; apply andb_prop in M1; unfold c; lia).
  unfold r, c, n. repeat split; auto.
  - unfold applied_first. destruct (first_rounding f); auto.
  - destruct (zsign (frame_out f)); auto; [discriminate|]. right. split; auto. destruct (first_rounding f) as [g|]; [eauto|discriminate].
  - intros Cm. rewrite Cm in I. cbn in I. now destruct (rho (applied_first f)).
  - intros z Hz Hg. rewrite Hz, Hg in K. apply Z.leb_le in K. lia.
  - destruct (c_rule d); auto; try easy; right; split; auto; easy.
  - now destruct (cutting_of d).
  - destruct (cutting_of d); try easy. now destruct (zero_terms (factors d)).
  - lia.
Qed.

(** What a zero result is. *)
Lemma zero_is ps x z : framed_sum f ps x = Num z -> is_zero z = true -> z = {| neg := false; sig := 0; exp := emin c; frac := p c |}.
Proof.
  destruct blocks_parts as [_ [_ [Em [[P _] [Er [_ [_ [Mc [Mr [Zs _]]]]]]]]]]. intros H Z.
  destruct Zs as [Zs|[Zs [g [Fg Gf]]]].
  - destruct (framed_converted f ps x z H) as [s [m [u Hz]]]. pose proof (convert_zero_result c s m u z false 0%Z P Zs Hz Z) as E.
    rewrite converts_zero in E by now rewrite Zs. now injection E as <-.
  - unfold framed_sum in H. cbv zeta in H. rewrite Fg in H.
    match type of H with match ?v with _ => _ end = _ => destruct v as [a| |] eqn:Ha; try easy end. unfold round_num, round_to in H. fold c in H.
    assert (Eg : r = g) by (unfold r, applied_first; now rewrite Fg). destruct (is_zero a) eqn:Za.
    + assert (Sa : signed a = 0%Z) by (unfold is_zero in Za; apply Z.eqb_eq in Za; unfold signed; rewrite Za; now destruct (neg a)).
      rewrite Sa, converts_zero in H by now rewrite Zs. now injection H as <-.
    + exfalso. rewrite <- Eg in Ha, Gf. assert (Em' : (emin r <= emax r)%Z) by (destruct blocks_parts as [_ [_ [? [_ [? [? _]]]]]]; lia).
      destruct (result_holds _ _ _ _ _ Mr Em' Ha Za) as [k [[E1 _] [Vk [Fl _]]]]. specialize (Fl Gf).
      assert (Pr : (0 <= p r)%Z) by (destruct blocks_parts as [_ [_ [_ [? _]]]]; lia).
      assert (L : bp (emin c) <= Rabs (V a)).
      { rewrite Vk, Rabs_mult. assert (D1 : Rabs (direction a) = 1) by (unfold direction; destruct (neg a); [rewrite Rabs_left1|rewrite Rabs_R1]; lra). rewrite D1, Rmult_1_l.
        assert (K0 : 0 <= IZR k) by (apply IZR_le; pose proof (Z.pow_nonneg 2 (p r)); lia).
        rewrite Rabs_pos_eq by (apply Rmult_le_pos; [exact K0|apply bpow_ge_0]). rewrite <- Er. apply Rle_trans with (bp (exp a)); [now apply bpow_le|].
        replace (exp a) with (p r + (exp a - p r))%Z at 1 by lia. rewrite bpow_plus, (bp_Z (p r)) by lia. apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le]. }
      apply (large_stays c (V a) P L). rewrite <- (V_zero z Z). symmetry. exact (convert_num_flushed _ _ _ _ _ Mc H).
Qed.

(** What is rounded to a result's value is that result. *)
Lemma framed_back ps x z s m u : framed_sum f ps x = Num z -> is_zero z = false ->
  IZR m * bp u = V z \/ complement f = true /\ near_below (p r) z (IZR m * bp u) ->
  exists y, match convert r s m u with Num a => match first_rounding f with Some _ => round_num (Floating c) a | None => Num a end | v => v end = Num y /\ like y z.
Proof.
  destruct blocks_parts as [_ [_ [Em [[P Pr] [Er [Ex [Fl [Mc [Mr [_ [Rn _]]]]]]]]]]]. intros H Z X.
  destruct (framed_converted f ps x z H) as [s0 [m0 [u0 Hz]]]. fold c in Hz.
  destruct (result_holds _ _ _ _ _ Mc Em Hz Z) as [k [Hk [Vk [Fk [Ek [_ _]]]]]].
  assert (P2 : (0 < 2 ^ p c)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (V0 : V z <> 0) by (intros V0; now rewrite (V_nothing z V0) in Z).
  assert (Top : Rabs (V z) < bp (exp z + 1)).
  { rewrite Vk, Rabs_mult. assert (D1 : Rabs (direction z) = 1) by (unfold direction; destruct (neg z); [rewrite Rabs_left1|rewrite Rabs_R1]; lra). rewrite D1, Rmult_1_l.
    assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia). destruct Hk as [_ Hk].
    rewrite Rabs_pos_eq by (apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]). replace (exp z + 1)%Z with ((p c + 1) + (exp z - p c))%Z by lia.
    rewrite bpow_plus, (bp_Z (p c + 1)) by lia. apply Rmult_lt_compat_r; [apply bpow_gt_0|]. apply IZR_lt. lia. }
  (* the first rounding holds it as well *)
  set (w := (2 ^ (p r - p c))%Z). assert (W0 : (0 < w)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (Wp : (2 ^ p r = 2 ^ p c * w)%Z) by (unfold w; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (Wp1 : (2 ^ (p r + 1) = 2 ^ (p c + 1) * w)%Z) by (unfold w; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (Hr : holds r (k * w) (exp z)).
  { destruct Hk as [E [K|[K1 K2]]]; (split; [lia|]); [left|right]; rewrite Wp, ?Wp1; [split; nia|]. split; [lia|]. nia. }
  assert (Vr : V z = direction z * (IZR (k * w) * bp (exp z - p r))).
  { rewrite Vk. f_equal. rewrite mult_IZR, Rmult_assoc. f_equal. unfold w. rewrite <- bp_Z, <- bpow_plus by lia. f_equal. lia. }
  assert (Fr : flushes r = true -> (2 ^ p r <= k * w)%Z) by (intros F; rewrite Fl in F; specialize (Fk F); rewrite Wp; nia).
  assert (Back : flushed_rnd r (IZR m * bp u) = V z).
  { apply (rounded_back r z (k * w)); auto. destruct X as [X|[X1 X2]]; auto. }
  destruct (finite_back r s m u z Mr Back V0) as [a [Ha Va]]. { eapply Rlt_le_trans; [exact Top|]. apply bpow_le. lia. }
  rewrite Ha. destruct (first_rounding f) as [g|] eqn:Fg.
  - unfold round_num, round_to.
    assert (Back2 : flushed_rnd c (IZR (signed a) * bp (lsb a)) = V z).
    { change (IZR (signed a) * bp (lsb a)) with (V a). rewrite Va. apply (rounded_back c z k); auto. }
    destruct (finite_back c (neg a) (signed a) (lsb a) z Mc Back2 V0) as [b [Hb Vb]]. { eapply Rlt_le_trans; [exact Top|]. apply bpow_le. lia. }
    exists b. split; [exact Hb|]. exact (value_like c _ _ _ _ _ _ b z Mc Em Hb Hz Vb Z).
  - exists a. split; [reflexivity|]. assert (Eg : r = c) by (unfold r, applied_first; now rewrite Fg). rewrite Eg in Ha.
    exact (value_like c _ _ _ _ _ _ a z Mc Em Ha Hz Va Z).
Qed.

Lemma framed_same us z ps x : forallb is_zero us = true -> (Z.of_nat (length us) <= n)%Z -> framed_sum f ps x = Num z -> exists y, framed_sum f us z = Num y /\ like y z.
Proof.
  destruct blocks_parts as [Ok [Zo [Em [[P Pr] [Er [Ex [Fl [Mc [Mr [Zs [Rn [Cb [Ze [_ [_ [_ [_ N1]]]]]]]]]]]]]]]]]. intros Zu L H.
  unfold framed_sum. cbv zeta.
  assert (Eg : match omax_list (grid_of f (Design.c_bits f) true z :: map (grid_of f (frame_bits f) (negb match group_size f with Some _ => true | None => false end)) us) with
    | Some g => g | None => 0%Z end = frame_unit f us z) by (unfold frame_unit; now destruct (group_size f)).
  rewrite Eg. clear Eg. rewrite forallb_app, Zu. cbn [forallb andb]. rewrite andb_true_r. destruct (is_zero z) eqn:Z.
  - pose proof (zero_is ps x z H Z) as Ez.
    match goal with |- context [match first_rounding f with Some _ => _ | None => convert _ ?s ?m ?u end] => set (m0 := m); set (u0 := u) end.
    exists z. split; [|exact (like_refl (Num z))]. change m0 with 0%Z. fold c.
    assert (Uc : match zsign c with IeeeSign => false | _ => true end = true) by (destruct Zs as [->|[-> _]]; reflexivity).
    destruct (first_rounding f) as [g|]; [|rewrite converts_zero, <- Ez by exact Uc; reflexivity].
    unfold convert at 1. rewrite round_div_0. cbn [Z.eqb orb]. unfold round_num, round_to. cbn [neg].
    assert (S0 : forall s e q, signed {| neg := s; sig := 0; exp := e; frac := q |} = 0%Z) by (intros; unfold signed; cbn; now destruct s).
    rewrite S0, converts_zero, <- Ez by exact Uc. reflexivity.
  - set (g := frame_unit f us z). destruct (framed_converted f ps x z H) as [s0 [m0 [u0 Hz]]]. fold c in Hz.
    destruct (result_holds _ _ _ _ _ Mc Em Hz Z) as [k [[E1 _] [Vk _]]].
    assert (Gl : (g + (p r + slack f n) <= exp z)%Z).
    { unfold g. destruct (zeros_unit f Zo us z Zu Z) as [->|[e [He [Hg ->]]]]; [lia|]. specialize (Ze e He Hg). lia. }
    assert (Sl : (0 <= slack f n)%Z) by (unfold slack; pose proof (Z.log2_up_nonneg n); destruct (complement f); lia).
    assert (Exact : forall m, fix_rnd m g (V z) = V z).
    { intros m. destruct (scaled_multiple (if neg z then - k else k) (exp z - p c) g ltac:(lia)) as [j J].
      assert (Vj : V z = IZR j * bp g) by (rewrite <- J, Vk; unfold direction; destruct (neg z); rewrite ?opp_IZR; ring). rewrite Vj. apply fix_multiple. }
    assert (Nz : (cut RZ g z =? 0)%Z = false).
    { apply Z.eqb_neq. intros C0. pose proof (cut_ok RZ g z) as Q. rewrite C0, Rmult_0_l, Exact in Q. rewrite (V_nothing z (eq_sym Q)) in Z. discriminate Z. }
    rewrite Nz, andb_false_r. rewrite zsum_app. cbn [zsum fold_right]. rewrite Z.add_0_r.
    destruct (zeros_taken f n N1 us z Zu L g) as [t [T1 [T2 T3]]].
    assert (Sum : IZR (zsum (frame_counts f g us z) + cut (frame_mode f) g z) * bp g = V z - direction z * t).
    { rewrite plus_IZR, Rmult_plus_distr_r, T3, cut_ok, Exact. ring. }
    rewrite (framed_rounded f (fun q => sign_of (rho q) (zsum (frame_counts f g us z) + cut (frame_mode f) g z) (us ++ [z]) (frame_counts f g us z ++ [cut (frame_mode f) g z]))).
    apply (framed_back ps x z); auto. destruct (complement f) eqn:Cm.
    + right. split; auto. exists t. split; [|exact Sum]. split; [apply T1|]. eapply Rle_trans; [apply T1|].
      unfold slack in Gl. rewrite Cm in Gl. assert (Nl : (n <= 2 ^ Z.log2_up n)%Z) by (destruct (Z.eq_dec n 1) as [->|]; [cbn; lia|apply Z.log2_log2_up_spec; lia]).
      apply Rle_trans with (bp (Z.log2_up n) * bp g).
      * apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by apply Z.log2_up_nonneg. now apply IZR_le.
      * rewrite <- bpow_plus. apply bpow_le. lia.
    + left. rewrite Sum, (T2 eq_refl). ring.
Qed.

Lemma frame_block_same v b : framed_value_of f v -> zero_block d b -> (length b <= block d)%nat -> like_val (block_value d v b) v.
Proof.
  destruct blocks_parts as [_ [_ [Em [[P _] [_ [_ [_ [Mc [_ [_ [_ [_ [_ [Cr [Cu [Zt [Sk _]]]]]]]]]]]]]]]]]. intros Rv Zb Lb.
  unfold block_value, skipped. rewrite Sk, S. cbn [andb]. unfold terms. rewrite Cu. cbn [fst snd block_sum]. change (map _ (ordered d b)) with (block_products d b).
  rewrite taken_kept by exact Zt.
  assert (Fv : flush (c_rule d) v = v).
  { destruct Cr as [->|[Nh Fl]]; [apply flush_kept|]. destruct v as [z| |]; try reflexivity. destruct (Rv z eq_refl) as [ps [x H]].
    destruct (framed_converted f ps x z H) as [s [m [u Hz]]]. destruct (Req_dec (V z) 0) as [V0|V0].
    - unfold flush, is_subnormal. now rewrite (V_nothing z V0).
    - exact (flushed_result c s m u z (c_rule d) Mc Em Fl Nh Hz V0). }
  rewrite Fv. pose proof (block_products_length d b) as Lp. destruct (zeros_num _ Zb) as [us [Eu Uz]]. rewrite Eu in *. rewrite map_length in Lp.
  unfold on_numbers. rewrite numbers_zeros. destruct v as [z|t|]; cbn [numbers forallb is_num andb map num_of].
  2, 3: rewrite special_zeros; cbn; try (destruct t; cbn); auto.
  unfold numbers. cbn [forallb is_num andb map num_of]. rewrite map_map. cbn [num_of]. rewrite map_id.
  destruct (Rv z eq_refl) as [ps [x H]]. destruct (framed_same us z ps x Uz) as [y [Hy Ly]]; auto; [unfold n; lia|]. rewrite Hy. exact Ly.
Qed.

Lemma framed_block_value v b : framed_value_of f (block_value d v b).
Proof.
  destruct blocks_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [Sk _]]]]]]]]]]]]]]]]]. intros z H.
  unfold block_value, skipped in H. rewrite Sk, S in H. cbn [andb block_sum] in H. unfold on_numbers in H. destruct (numbers _); [eauto|exfalso; now apply (special_not_num _ z H)].
Qed.
End Blocks.

(** Blocks of products of zero after others change nothing: the same value, and the same word of a number. *)
Theorem frame_blocks_idle d bs zs f n : frame_blocks_ok d = true -> bs <> [] -> Forall (zero_block d) zs -> Forall (fun b => (length b <= block d)%nat) zs -> forall v,
  encode f n (fold_left (block_value d) (bs ++ zs) v) = encode f n (fold_left (block_value d) bs v).
Proof.
  intros O N Z L v. rewrite fold_left_app. apply encode_like. destruct (sums d) as [| | |fr| | | | |] eqn:S; try (unfold frame_blocks_ok in O; now rewrite S in O).
  assert (Rv : framed_value_of fr (fold_left (block_value d) bs v)).
  { destruct (exists_last N) as [bs0 [b ->]]. rewrite fold_left_app. cbn [fold_left]. now apply framed_block_value. }
  revert Rv. generalize (fold_left (block_value d) bs v) as x. revert L. induction Z as [|b r Hb Z IH]; intros L x Rx; [apply like_refl|].
  apply Forall_cons_iff in L. destruct L as [Lb Lr]. cbn [fold_left].
  eapply like_trans; [apply IH; auto; now apply framed_block_value|now apply (frame_block_same d fr)].
Qed.
