(** Sums of integers whose terms are those of groups, and of which c is added last. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Losses Accumulated Trees.
Import ListNotations.
Open Scope R_scope.

Lemma convert_integer B c s n u E : holds_integers B c = true -> (0 <= p c)%Z -> (emin c <= emax c)%Z -> (emin c <= 0)%Z -> (B <= emax c)%Z -> monotone_conv c = true ->
  integer E -> Rabs E <= bp B -> IZR n * bp u = E -> exists z, convert c s n u = Num z /\ V z = E /\ normal z.
Proof.
  intros H P M E0 Bx Mc I A Q. destruct (integer_kept B c E H I A) as [K1 K2].
  destruct (convert_finite_flushed c s n u Mc) as [z Hz]. { rewrite Q, K2. eapply Rle_lt_trans; [exact A|]. apply bpow_lt. lia. }
  exists z. split; auto. assert (Vz : V z = E) by now rewrite (convert_num_flushed _ _ _ _ _ Mc Hz), Q. split; auto.
  intros Zz. destruct (convert_shape _ _ _ _ _ P M Hz) as [[X1 X2] Sh]. unfold is_zero in Zz. apply Z.eqb_neq in Zz.
  assert (Sg : (0 < sig z)%Z) by (destruct Sh as [[_ [? _]]|[_ ->]]; [lia|apply Z.pow_pos_nonneg; lia]).
  assert (Ab : Rabs (V z) = IZR (sig z) * bp (lsb z)).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg z); lia. }
  assert (D : forall k, (0 <= k)%Z -> (2 ^ k <= sig z)%Z -> frac z = k -> bp (exp z) <= Rabs (V z)).
  { intros k K0 L1 L2. rewrite Ab. unfold lsb. rewrite L2. replace (exp z) with (k + (exp z - k))%Z at 1 by lia. rewrite bpow_plus.
    apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le. }
  destruct Sh as [[F [S1 [S2|S2]]]|[F S1]].
  - rewrite S2. apply Rle_trans with 1; [change 1 with (bp 0); apply bpow_le; lia|]. rewrite Vz. destruct I as [k Hk]. rewrite Hk, <- abs_IZR. apply IZR_le.
    assert (k <> 0)%Z; [|lia]. intros ->. rewrite Vz, Hk, Rabs_R0 in Ab. pose proof (bpow_gt_0 radix2 (lsb z)). assert (0 < IZR (sig z)) by (now apply IZR_lt). nra.
  - now apply (D (p c)).
  - apply (D (p c + 1)%Z); auto; lia.
Qed.

(** Terms whose exponents do not show more than so many fraction bits of them. *)
Definition near (f : Z) (x : num) : Prop := is_zero x = false -> (exp x <= f)%Z \/ bp (exp x) <= Rabs (V x).

Lemma near_le f B x : (B <= f)%Z -> near f x -> is_zero x = false -> Rabs (V x) <= bp B -> (exp x <= f)%Z.
Proof. intros L N Z A. destruct (N Z) as [H|H]; auto. assert (exp x <= B)%Z by (apply (le_bpow radix2); lra). lia. Qed.

Lemma cut_integer m u x : (u <= 0)%Z -> integer (V x) -> IZR (cut m u x) * bp u = V x.
Proof. intros U I. rewrite cut_ok. unfold fix_rnd. apply round_generic; auto with typeclass_instances. now apply integer_fix. Qed.

Lemma counts_integer m u ts : (u <= 0)%Z -> Forall (fun x => integer (V x)) ts -> IZR (zsum (map (cut m u) ts)) * bp u = exact_sum ts.
Proof.
  intros U I. unfold exact_sum. induction I as [|x r Hx I IH]; cbn [map]; [cbn; ring|]. change (zsum (?a :: ?l)) with (a + zsum l)%Z.
  rewrite plus_IZR, Rmult_plus_distr_r, IH, cut_integer by auto. reflexivity.
Qed.

Definition zero_within (s : sum) (f : Z) : bool := match zero_exponent s with ZeroNone => true | ZeroOwn => false | ZeroAt z => (z <=? f)%Z end.

Lemma largest_within s f B ts : normalise s = false -> zero_within s f = true -> (B <= f)%Z -> Forall (near f) ts -> magnitude ts <= bp B ->
  ole (largest s ts) (Some f).
Proof.
  intros Nn Zw L N M. apply largest_le. intros x Hx. unfold term_exponent. destruct (is_zero x) eqn:Z.
  - unfold zero_within in Zw. destruct (zero_exponent s); cbn; auto; try easy. lia.
  - rewrite Nn. cbn. rewrite Forall_forall in N. apply (near_le f B); auto. pose proof (magnitude_in ts x Hx). lra.
Qed.

(** What is asked of a sum of groups, and of one to which c is added. *)
Definition integer_conv (B : Z) (c : conversion) : bool :=
  holds_integers B c && (0 <=? p c)%Z && (emin c <=? emax c)%Z && (emin c <=? 0)%Z && (B <=? emax c)%Z && monotone_conv c.

Definition integer_bits (d : design) : option Z :=
  match sums d with OneSum (Stage s) | CAfter s false => fraction_bits s | _ => None end.

Definition integers_terms_ok (d : design) (B : Z) : bool :=
  match sums d with
  | OneSum (Stage s) | CAfter s false => integer_conv B (out s) && negb (normalise s) && match carry_bits s with None => true | _ => false end &&
      match fraction_bits s with Some f => (B <=? f)%Z && zero_within s f | None => false end
  | _ => false
  end && (0 <=? B)%Z && negb (skips d) && match zero_terms (factors d) with None => true | _ => false end && kept_or_zero (c_rule d) &&
  match composed d with None => true | _ => false end.

(** The terms of a block: integers, and near, the exponents of groups that add up to 0 too. *)
Definition terms_of (d : design) (b : list element) : list num := map num_of (fst (terms d (ordered d b))).
Definition integer_terms (d : design) (b : list element) : Prop :=
  exists f, integer_bits d = Some f /\ fst (terms d (ordered d b)) = map Num (terms_of d b) /\ Forall (fun y => integer (V y)) (terms_of d b) /\
    Forall (near f) (terms_of d b) /\ match snd (terms d (ordered d b)) with Some e => (e <= f)%Z | None => True end.

Lemma kept_normal r x : kept_or_zero r = true -> (0 <= sig x)%Z -> normal x -> flush r (Num x) = Num x.
Proof.
  intros K S N. unfold flush. destruct (is_subnormal x) eqn:Q; auto. exfalso. unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [Q1 Q2].
  apply negb_true_iff in Q1. specialize (N Q1). unfold is_zero in Q1. apply Z.eqb_neq in Q1. apply Z.ltb_lt in Q2.
  assert (Ab : Rabs (V x) = IZR (sig x) * bp (lsb x)).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg x); lia. }
  rewrite Ab in N. destruct (Z.log2_spec (sig x)) as [_ L]; [lia|].
  assert (sig x < 2 ^ frac x)%Z. { eapply Z.lt_le_trans; [exact L|]. apply Z.pow_le_mono_r; lia. }
  pose proof (Z.log2_nonneg (sig x)). assert (IZR (sig x) < bp (frac x)) by (rewrite bp_Z by lia; now apply IZR_lt).
  assert (Q3 : IZR (sig x) * bp (lsb x) < bp (frac x) * bp (lsb x)) by (apply Rmult_lt_compat_r; [apply bpow_gt_0|auto]).
  rewrite <- bpow_plus in Q3. replace (frac x + lsb x)%Z with (exp x) in Q3 by (unfold lsb; lia). lra.
Qed.

Lemma integer_block_terms d B b x : integers_terms_ok d B = true -> integer_terms d b -> integer (V x) -> normal x -> (0 <= sig x)%Z ->
  Rabs (V x) + magnitude (terms_of d b) <= bp B ->
  exists z, block_value d (Num x) b = Num z /\ V z = V x + exact_sum (terms_of d b) /\ normal z /\ (0 <= sig z)%Z.
Proof.
  intros O [f [Fb [T [I [N Ge]]]]] Ix Nx Sx A. unfold integers_terms_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[O B0] Sk] Zt] Kc] Co].
  apply negb_true_iff in Sk. destruct (zero_terms (factors d)) eqn:Zt'; [easy|]. set (ts := terms_of d b) in *.
  assert (Cx : taken_c d (Num x) = Num x) by (rewrite taken_kept by auto; now apply kept_normal).
  unfold block_value, skipped. rewrite Sk, Cx, T. cbn [andb].
  assert (Pa : 0 <= magnitude ts) by (apply Rsum_nonneg; intros; apply Rabs_pos). pose proof (Rabs_pos (V x)) as Px.
  assert (At : Rabs (V x + exact_sum ts) <= bp B) by (pose proof (exact_sum_abs ts); pose proof (Rabs_triang (V x) (exact_sum ts)); lra).
  assert (It : integer (V x + exact_sum ts)).
  { destruct Ix as [k Hk]. destruct (integer_sum ts I) as [j Hj]. exists (k + j)%Z. now rewrite plus_IZR, Hk, Hj. }
  unfold integer_bits in Fb. destruct (sums d) as [[s|]| | | | |s [|]| | |]; try easy; rewrite Fb in O;
    repeat rewrite andb_true_iff in O; destruct O as [[[Ic Nn] Ks] [Bf Zw]]; apply negb_true_iff in Nn; apply Z.leb_le in Bf;
    destruct (carry_bits s) eqn:K; try easy; unfold integer_conv in Ic; repeat rewrite andb_true_iff in Ic; destruct Ic as [[[[[H1 H2] H3] H4] H5] H6].
  - assert (Nx' : near f x) by (intros Z; right; now apply Nx).
    assert (Ia : Forall (fun y => integer (V y)) (ts ++ [x])) by (apply Forall_app; auto).
    assert (Na : Forall (near f) (ts ++ [x])) by (apply Forall_app; auto).
    assert (Ma : magnitude (ts ++ [x]) <= bp B).
    { rewrite magnitude_app. unfold magnitude at 2. cbn. lra. }
    assert (Lw : ole (largest s (ts ++ [x])) (Some f)) by (apply (largest_within s f B); auto).
    assert (Nu : numbers (map Num ts ++ [Num x]) = Some (ts ++ [x])) by (change [Num x] with (map Num [x]); rewrite <- map_app; apply numbers_map).
    assert (Ex : exact_sum (ts ++ [x]) = V x + exact_sum ts) by (unfold exact_sum; rewrite map_app, Rsum_app; cbn; ring).
    assert (Q : exists u, (u <= 0)%Z /\ add_from (snd (terms d (ordered d b))) (Stage s) (map Num ts ++ [Num x]) = sum_at s (Floating (out s)) u (ts ++ [x])).
    { destruct (snd (terms d (ordered d b))) as [e|]; cbn [add_from add stage_rounding].
      - unfold on_numbers. rewrite Nu. cbv zeta. rewrite Fb. eexists. split; [|reflexivity]. destruct (largest s (ts ++ [x])); cbn in *; lia.
      - unfold sum_values. rewrite Nu. eexists. split; [|apply sum_numbers_at]. unfold unit_of. rewrite Fb. destruct (largest s (ts ++ [x])); cbn in *; lia. }
    cbn [block_sum]. destruct Q as [u [U ->]]. unfold sum_at, held. rewrite K. cbv zeta. cbn [round_to rounding_mode].
    set (sg := sign_of _ _ _ _).
    destruct (convert_integer B (out s) sg (zsum (map (cut (alignment s) u) (ts ++ [x]))) u (V x + exact_sum ts)) as [z [Z1 [Z2 Z3]]]; auto; try lia.
    { rewrite counts_integer by auto. exact Ex. }
    exists z. repeat split; auto. apply (convert_whole (out s) sg (zsum (map (cut (alignment s) u) (ts ++ [x]))) u ltac:(lia) z Z1).
  - cbn [block_sum]. unfold on_numbers. assert (Nu : numbers (map Num ts ++ [Num x]) = Some (ts ++ [x])) by (change [Num x] with (map Num [x]); rewrite <- map_app; apply numbers_map).
    rewrite Nu. cbv zeta. rewrite map_map. cbn [num_of]. rewrite map_id. unfold held. rewrite K. cbn [num_of].
    assert (Lw : ole (largest s ts) (Some f)) by (apply (largest_within s f B); auto; lra).
    assert (U : (unit_of s ts <= 0)%Z) by (unfold unit_of; rewrite Fb; destruct (largest s ts); cbn in *; lia).
    set (u := unit_of s ts) in *. unfold plus. cbv zeta. set (w := Z.min u (lsb x)). set (sg := sign_of (rho (out s)) (_ + _) _ _).
    destruct (convert_integer B (out s) sg (zsum (counts s ts) * 2 ^ (u - w) + signed x * 2 ^ (lsb x - w)) w (V x + exact_sum ts)) as [z [Z1 [Z2 Z3]]]; auto; try lia.
    { rewrite plus_IZR, !mult_IZR, <- !bp_Z by (unfold w; lia). rewrite Rmult_plus_distr_r, !Rmult_assoc, <- !bpow_plus.
      replace (u - w + w)%Z with u by lia. replace (lsb x - w + w)%Z with (lsb x) by lia. unfold counts. fold u. rewrite counts_integer by auto.
      change (IZR (signed x) * bp (lsb x)) with (V x). ring. }
    exists z. repeat split; auto. eapply (convert_whole (out s)); [|exact Z1]. lia.
Qed.

(** Integers whose magnitudes, c's among them, add up to 2^B at most: the result is their sum. *)
Theorem integers_terms d B bs : integers_terms_ok d B = true -> forall x, Forall (integer_terms d) bs -> integer (V x) -> normal x -> (0 <= sig x)%Z ->
  Rabs (V x) + Rsum (map (fun b => magnitude (terms_of d b)) bs) <= bp B ->
  exists z, fold_left (block_value d) bs (Num x) = Num z /\ V z = V x + Rsum (map (fun b => exact_sum (terms_of d b)) bs).
Proof.
  intros O. induction bs as [|b r IH]; intros x F Ix Nx Sx A; [exists x; split; [reflexivity|cbn; ring]|]. apply Forall_cons_iff in F. destruct F as [Fb Fr].
  cbn [map] in A. change (Rsum (?a :: ?l)) with (a + Rsum l) in A.
  assert (Pr : 0 <= Rsum (map (fun b => magnitude (terms_of d b)) r)) by (apply Rsum_nonneg; intros; apply Rsum_nonneg; intros; apply Rabs_pos).
  destruct (integer_block_terms d B b x O Fb Ix Nx Sx) as [z [Z1 [Z2 [Z3 Z4]]]]; [lra|].
  cbn [fold_left]. rewrite Z1. destruct (IH z Fr) as [y [Y1 Y2]]; auto.
  - rewrite Z2. destruct Fb as [f [_ [_ [I _]]]]. destruct Ix as [k Hk]. destruct (integer_sum _ I) as [j Hj]. exists (k + j)%Z. now rewrite plus_IZR, Hk, Hj.
  - pose proof (exact_sum_abs (terms_of d b)). pose proof (Rabs_triang (V x) (exact_sum (terms_of d b))). rewrite Z2. lra.
  - exists y. split; auto. rewrite Y2, Z2. cbn [map]. change (Rsum (?a :: ?l)) with (a + Rsum l). ring.
Qed.
