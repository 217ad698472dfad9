(** The error of a dot product of any length on a unit of truncated sums, from words: a recurrence over the blocks and its
    closed form, (1 + kappa)^m - 1 for m blocks. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Losses.
Import ListNotations.
Open Scope R_scope.

(** * How errors grow from block to block *)

(** 1 + (1 + k) + ... + (1 + k)^(m-1). *)
Fixpoint geometric (k : R) (m : nat) : R := match m with O => 0 | S i => (1 + k) ^ i + geometric k i end.

Lemma geometric_pos k m : 0 <= k -> 0 <= geometric k m.
Proof. intros K. induction m; cbn; [lra|]. assert (0 <= (1 + k) ^ m) by (apply pow_le; lra). lra. Qed.

(** A step that loses k of its terms' magnitudes and of what it starts from, and h beside. *)
Lemma growth_step k h x S A C H z s a : 0 <= k -> 0 <= C -> 0 <= a -> Rabs S <= A ->
  Rabs (x - S) <= C * A + H -> Rabs (z - (x + s)) <= k * (Rabs x + a) + h ->
  Rabs (z - (S + s)) <= ((1 + C) * (1 + k) - 1) * (A + a) + ((1 + k) * H + h).
Proof.
  intros K C0 a0 SA E Z. replace (z - (S + s)) with ((z - (x + s)) + (x - S)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (X : Rabs x <= A + C * A + H).
  { replace x with (S + (x - S)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  pose proof (Rmult_le_compat_l k _ _ K X) as KX.
  assert (0 <= C * a) by nra. assert (0 <= k * C * a) by (rewrite Rmult_assoc; nra). nra.
Qed.

(** * What a block's terms have to be *)

(** Cut at F fraction bits below its own exponent, a number stays as it is. *)
Definition settled (f : Z) (x : num) : Prop := generic_format radix2 (FIX_exp (exp x - f)) (V x).

Lemma settled_loss m f x : settled f x -> loss m (exp x - f) x = 0.
Proof. intros G. unfold loss, fix_rnd. rewrite round_generic by auto with typeclass_instances. now rewrite Rminus_eq_0, Rabs_R0. Qed.

Lemma short_settled f x : (frac x <= f)%Z -> settled f x.
Proof.
  intros F. unfold settled. apply generic_format_FIX.
  exists (Float radix2 (signed x * 2 ^ (f - frac x)) (exp x - f)); [|reflexivity].
  unfold F2R, V; simpl. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. unfold lsb. lia.
Qed.

(** The exponent is that of the leading bit, or at most e0. *)
Definition floored (e0 : Z) (x : num) : Prop := is_zero x = false -> bp (exp x) <= Rabs (V x) \/ (exp x <= e0)%Z.

(** What is known of c of every block: the first one, and results. *)
Definition fit_c (f e0 l : Z) (x : num) : Prop := settled f x /\ floored e0 x /\ (l <= exp x)%Z.

Lemma result_fit s f e0 l sg n u z : plain (out s) = true -> (p (out s) <= f)%Z -> (emin (out s) <= emax (out s))%Z ->
  (emin (out s) <= e0)%Z -> (l <= emin (out s))%Z -> convert (out s) sg n u = Num z -> fit_c f e0 l z.
Proof.
  intros P Pf M E0 L H. pose proof (plain_p _ P) as Pp. destruct (convert_shape _ _ _ _ _ Pp M H) as [Ex Sh].
  destruct (convert_exponent _ _ _ _ _ P H) as [E1 E2]. split; [|split].
  - destruct Sh as [[F _]|[F S]]; [apply short_settled; lia|].
    assert (Vz : V z = IZR (if neg z then -1 else 1) * bp (exp z)).
    { unfold V, signed, lsb. rewrite F, S. replace (exp z - (p (out s) + 1))%Z with (exp z + - (p (out s) + 1))%Z by lia.
      rewrite bpow_plus.
      assert (P2 : IZR (2 ^ (p (out s) + 1)) * (bp (exp z) * bp (- (p (out s) + 1))) = bp (exp z)).
      { rewrite <- bp_Z, <- !bpow_plus by lia. f_equal. lia. }
      destruct (neg z); [rewrite opp_IZR|]; lra. }
    unfold settled. apply generic_format_FIX.
    exists (Float radix2 ((if neg z then -1 else 1) * 2 ^ f) (exp z - f)); [|reflexivity].
    unfold F2R; simpl. rewrite Vz, mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
  - intros Z. destruct (E2 Z) as [Q|Q]; [right; lia|now left].
  - lia.
Qed.

Lemma eta_le d f e0 L L' : 0 <= L -> L <= L' -> eta d f e0 L <= eta d f e0 L'.
Proof.
  intros L0 LL. unfold eta. pose proof (bpow_ge_0 radix2 (e0 - f)). pose proof (bpow_ge_0 radix2 (Z.max e0 (emin (out d)))).
  assert (K : kept (out d) L <= kept (out d) L').
  { unfold kept. destruct (nearest _); auto. apply Rmax_case; [|apply Rmax_r]. pose proof (Rmax_l (L' - 1) 0). lra. }
  assert (G : growth (alignment d) f L <= growth (alignment d) f L').
  { pose proof (bpow_ge_0 radix2 (- f)). destruct (alignment d); cbn; nra. }
  apply Rplus_le_compat; [now apply Rmult_le_compat_r|]. pose proof (share_pos (out d)). apply Rmult_le_compat_l; [lra|].
  apply Rmult_le_compat_r; auto. lra.
Qed.

(** Products: lam units of loss at most; in 4096ths. *)
Definition fit_product (m : mode) (f l : Z) (lam : R) (x : num) : Prop :=
  settled f x /\ normal x /\ (l <= exp x)%Z /\ forall u, loss m u x <= lam * bp u.

(** Units that a block of n products and c loses by cutting, the largest term nothing. *)
Definition units (lam : R) (n : Z) : R := lam * IZR (Z.max (n - 1) 0) + 1.

Lemma units_pos lam n : 0 <= lam -> 0 <= units lam n.
Proof. intros. unfold units. assert (0 <= IZR (Z.max (n - 1) 0)) by (apply IZR_le; lia). nra. Qed.

(** What a design's sum has to be. *)
Definition truncated_ok (s : sum) (f e0 l : Z) : bool :=
  plain (out s) && match carry_bits s with None => true | _ => false end && negb (normalise s) &&
  match fraction_bits s with Some g => (g =? f)%Z | None => false end && (0 <=? f)%Z && (p (out s) <=? f)%Z &&
  (emin (out s) <=? emax (out s))%Z && (emin (out s) <=? e0)%Z && (l <=? emin (out s))%Z &&
  (zero_below s l || match zero_exponent s, alignment s with ZeroAt z, RZ => (z <=? e0)%Z | _, _ => false end).

(** Every unit that a block of n products and c can lose. *)
Definition all_units (n : Z) : R := IZR n + 1.

Lemma all_losses m u us x n : (Z.of_nat (length us) <= n)%Z -> Rsum (map (loss m u) (us ++ [x])) <= all_units n * bp u.
Proof.
  intros Ln. rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. pose proof (bpow_gt_0 radix2 u) as B.
  assert (A : forall y, loss m u y <= 1 * bp u) by (intros y; unfold loss; pose proof (fix_rnd_err m u (V y)); lra).
  pose proof (losses_repeat m u 1 us (proj2 (Forall_forall _ us) (fun y _ => A y))) as R. pose proof (A x).
  unfold all_units. apply IZR_le in Ln. rewrite <- INR_IZR_INZ in Ln. nra.
Qed.

Lemma magnitude_pos l : 0 <= magnitude l.
Proof. apply Rsum_nonneg. intros. apply Rabs_pos. Qed.

Lemma zeros_sum ts : (forall y, In y ts -> is_zero y = true) -> exact_sum ts = 0.
Proof.
  intros Z. unfold exact_sum. rewrite (Rsum_ext V (fun _ => 0)) by (intros; apply V_zero; auto). clear. induction ts; cbn; [reflexivity|]. unfold Rsum in *. cbn. lra.
Qed.

Lemma zeros_total s ts : (forall y, In y ts -> is_zero y = true) -> zsum (counts s ts) = 0%Z.
Proof. intros Z. unfold counts. rewrite zeros_count; [apply zsum_zeros|]. apply forallb_forall. exact Z. Qed.

(** One truncated sum: at most L units are lost where a term has the largest exponent, and A where a zero has it. *)
Theorem terms_loss s f e0 l A L ts z :
  truncated_ok s f e0 l = true -> 0 <= L <= A ->
  (forall q, In q ts -> is_zero q = false -> (l <= exp q)%Z) ->
  (forall y, In y ts -> is_zero y = false ->
    (bp (exp y) <= magnitude ts \/ (exp y <= e0)%Z) /\ Rsum (map (loss (alignment s) (exp y - f)) ts) <= L * bp (exp y - f)) ->
  (forall u, Rsum (map (loss (alignment s) u) ts) <= A * bp u) ->
  sum_numbers s ts = Num z ->
  Rabs (V z - exact_sum ts) <= kappa s f L * magnitude ts + eta s f e0 A /\ fit_c f e0 l z.
Proof.
  intros O [L0 LA] Low Top All H. unfold truncated_ok in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[P K] Nn] Ff] F0] Pf] M] E0] Ll] ZB].
  apply negb_true_iff in Nn. apply Z.leb_le in F0, Pf, M, E0, Ll. destruct (carry_bits s) eqn:Kb; [easy|].
  destruct (fraction_bits s) as [g|] eqn:F; [|easy]. apply Z.eqb_eq in Ff. subst g.
  split; [|unfold sum_numbers in H; eapply result_fit; eauto].
  assert (T : exact_total s ts) by (apply no_carry_exact; exact Kb). pose proof (magnitude_pos ts) as Mg.
  pose proof (kappa_pos s f L L0) as KP. pose proof (eta_pos s f e0 A ltac:(lra)) as EP. pose proof (eta_le s f e0 L A L0 LA) as EL.
  assert (Cuts : forall E B, largest s ts = Some E -> Rsum (map (loss (alignment s) (E - f)) ts) <= B * bp (E - f) ->
    Rabs (IZR (zsum (counts s ts)) * bp (E - f) - exact_sum ts) <= B * bp (E - f)).
  { intros E B Q HB. assert (U : unit_of s ts = (E - f)%Z) by (unfold unit_of; now rewrite F, Q).
    pose proof (cut_losses s ts) as CL. cbv zeta in CL. rewrite U in CL. lra. }
  assert (Main : forall y, In y ts -> is_zero y = false -> largest s ts = Some (exp y) ->
    Rabs (V z - exact_sum ts) <= kappa s f L * magnitude ts + eta s f e0 A).
  { intros y Hy Zy Q. destruct (Top y Hy Zy) as [By Ly].
    apply Rle_trans with (kappa s f L * magnitude ts + eta s f e0 L); [|lra]. apply (sum_absolute s f ts (exp y) e0 z L); auto. }
  assert (Zeros : (forall y, In y ts -> is_zero y = true) -> Rabs (V z - exact_sum ts) <= kappa s f L * magnitude ts + eta s f e0 A).
  { intros Zs. unfold sum_numbers in H. rewrite T in H. pose proof (convert_num _ _ _ _ _ P H) as C.
    rewrite (zeros_total s ts Zs), Rmult_0_l in C. unfold flt_rnd in C. rewrite round_0 in C by auto with typeclass_instances.
    rewrite C, (zeros_sum ts Zs), Rminus_0_r, Rabs_R0. nra. }
  destruct (largest s ts) as [E|] eqn:Q; [|apply Zeros; intros y Hy; now apply (largest_none s ts)].
  destruct (largest_attained s ts E Q) as [y [Hy Ey]]. unfold term_exponent in Ey. destruct (is_zero y) eqn:Zy.
  2: { rewrite Nn in Ey. injection Ey as <-. now apply (Main y). }
  (* the largest exponent is that of a zero *)
  destruct (zero_exponent s) as [| |ze] eqn:Ze; [easy| |].
  { exfalso. apply orb_prop in ZB. unfold zero_below in ZB. rewrite Ze in ZB. now destruct ZB. }
  injection Ey as <-. apply orb_prop in ZB. destruct ZB as [ZB|ZB].
  - (* another term has it too, or all are zeros *)
    unfold zero_below in ZB. rewrite Ze in ZB. apply Z.leb_le in ZB.
    destruct (forallb is_zero ts) eqn:Az; [apply Zeros; now apply forallb_forall|].
    assert (Ex : exists q, In q ts /\ is_zero q = false).
    { clear -Az. induction ts as [|a r IH]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; [|exists a; auto].
      destruct IH as [q [? ?]]; auto. exists q; auto. }
    destruct Ex as [q [Hq Zq]]. pose proof (largest_in s ts q Hq) as Lq. rewrite Q in Lq. unfold term_exponent in Lq. rewrite Zq, Nn in Lq. cbn in Lq.
    specialize (Low q Hq Zq). apply (Main q); auto. f_equal. lia.
  - destruct (alignment s) eqn:Al; try easy. apply Z.leb_le in ZB. apply (sum_tiny s f ts ze e0 z A L); auto. lra.
Qed.

Theorem block_loss s f e0 l lam n us x z :
  truncated_ok s f e0 l = true -> 0 <= lam <= 1 -> (Z.of_nat (length us) <= n)%Z ->
  Forall (fit_product (alignment s) f l lam) us -> fit_c f e0 l x ->
  sum_numbers s (us ++ [x]) = Num z ->
  Rabs (V z - exact_sum (us ++ [x])) <= kappa s f (units lam n) * magnitude (us ++ [x]) + eta s f e0 (all_units n) /\ fit_c f e0 l z.
Proof.
  intros O La Ln Fu Fx. rewrite Forall_forall in Fu. apply terms_loss; auto.
  - split; [apply units_pos; apply La|]. unfold units, all_units. assert (IZR (Z.max (n - 1) 0) <= IZR n) by (apply IZR_le; lia).
    assert (0 <= IZR (Z.max (n - 1) 0)) by (apply IZR_le; lia). nra.
  - intros q Hq _. apply in_app_or in Hq. destruct Hq as [Hq|[<-|[]]]; [now apply Fu|apply Fx].
  - intros y Hy Zy. assert (Sy : settled f y /\ floored e0 y).
    { apply in_app_or in Hy. destruct Hy as [Hy|[<-|[]]]; [|split; apply Fx]. destruct (Fu y Hy) as [A [B _]]. split; [exact A|]. intros Z. left. now apply B. }
    destruct Sy as [Sy By]. split.
    + destruct (By Zy) as [B|B]; auto. left. eapply Rle_trans; [exact B|]. now apply magnitude_in.
    + eapply Rle_trans; [apply (losses_beside (alignment s) (exp y - f) lam us x y La); auto; [|now apply settled_loss]|].
      * apply Forall_forall. intros q Hq. now apply Fu.
      * apply Rmult_le_compat_r; [apply bpow_ge_0|]. unfold units. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [lra|]. apply IZR_le. lia.
  - intros u. now apply all_losses.
Qed.

(** * Designs of one truncated sum, from words to the value of the result *)

(** An element's term: the product of its factors as the multiplier takes them (flushed, normalised), and its scales. *)
Definition term (d : design) (x : element) : val :=
  scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x).
Definition term_value (d : design) (x : element) : R := V (num_of (term d x)).

Definition leading (x : num) : Prop := sig x = 0%Z \/ (2 ^ frac x <= sig x)%Z.
Definition leading_val (v : val) : Prop := forall x, v = Num x -> leading x.

(** Each factor that the multiplier takes, and each scale, is zero or has a leading bit. *)
Definition leading_element (d : design) (x : element) : Prop :=
  leading_val (a_of d x) /\ leading_val (b_of d x) /\ Forall leading_val (scaled_by x).

Lemma V_abs x : Rabs (V x) = Rabs (IZR (sig x)) * bp (lsb x).
Proof.
  unfold V, signed. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. destruct (neg x); auto. now rewrite opp_IZR, Rabs_Ropp.
Qed.

Lemma leading_normal x : (0 <= sig x)%Z -> leading x -> normal x.
Proof.
  intros P L Z. unfold is_zero in Z. apply Z.eqb_neq in Z. destruct L as [L|L]; [easy|].
  rewrite V_abs, <- abs_IZR, (Z.abs_eq (sig x)) by lia. apply Rle_trans with (bp (frac x) * bp (lsb x)).
  - rewrite <- bpow_plus. apply bpow_le. unfold lsb. lia.
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. destruct (Z_lt_le_dec (frac x) 0) as [N|N].
    + apply Rle_trans with (bp 0); [apply bpow_le; lia|]. cbn. apply IZR_le. lia.
    + rewrite bp_Z by lia. now apply IZR_le.
Qed.

Lemma V_times x y : V (times x y) = V x * V y.
Proof.
  unfold V, times, signed, lsb. cbn [neg sig exp frac]. replace (exp x + exp y - (frac x + frac y))%Z with ((exp x - frac x) + (exp y - frac y))%Z by lia.
  rewrite bpow_plus. destruct (neg x), (neg y); cbn [xorb]; rewrite ?opp_IZR, mult_IZR; ring.
Qed.

Lemma times_normal x y : normal x -> normal y -> normal (times x y).
Proof.
  intros X Y Z. unfold is_zero, times in Z. cbn [sig] in Z. apply Z.eqb_neq in Z.
  assert (Zx : is_zero x = false) by (unfold is_zero; apply Z.eqb_neq; lia). assert (Zy : is_zero y = false) by (unfold is_zero; apply Z.eqb_neq; lia).
  specialize (X Zx). specialize (Y Zy). rewrite V_times, Rabs_mult. cbn [times exp]. rewrite bpow_plus.
  apply Rmult_le_compat; auto; apply bpow_ge_0.
Qed.

Lemma format_bits f : format_ok f = true -> (0 <= fbits f)%Z.
Proof. unfold format_ok. lia. Qed.

(** Scales that are powers of two, or none. *)
Definition plain_scales (d : design) : bool := match scales d with Some (f, _) => (fbits f =? 0)%Z | None => true end.

(** Which share of a unit a product loses: [lam] 4096ths where they are found for products of few bits, else all. *)
Definition share_ok (d : design) (m : mode) (lam : Z) : bool :=
  if (lam =? 4096)%Z then true else few_bits (fbits (a_format d)) (fbits (b_format d)) lam && plain_scales d && match m with RZ => true | _ => false end.

Lemma lossy_whole m u x : loss m u x <= 1 * bp u.
Proof. unfold loss. pose proof (fix_rnd_err m u (V x)). lra. Qed.

(** A number with more fraction bits. *)
Definition widened (b : Z) (x : num) : num := {| neg := neg x; sig := sig x * 2 ^ (b - frac x); exp := exp x; frac := b |}.

Lemma V_widened b x : (frac x <= b)%Z -> V (widened b x) = V x.
Proof.
  intros B. unfold V, widened, signed, lsb. cbn [neg sig exp frac].
  replace (exp x - frac x)%Z with ((b - frac x) + (exp x - b))%Z by lia. rewrite bpow_plus, (bp_Z (b - frac x)) by lia.
  destruct (neg x); rewrite ?opp_IZR, mult_IZR; ring.
Qed.

Lemma two_leading_times fa fb la lb x y : (0 <= fa)%Z -> (0 <= fb)%Z -> has {| most := 2 ^ (fa + 1) - 1; bits := fa; low := la |} x ->
  has {| most := 2 ^ (fb + 1) - 1; bits := fb; low := lb |} y -> leading x -> leading y -> two_leading fa fb (times (widened fa x) (widened fb y)).
Proof.
  intros F0 G0 [[Px Ax] [Bx _]] [[Py Ay] [By _]] Lx Ly. cbn in *. unfold two_leading, times, widened. cbn [sig].
  destruct (Z.eq_dec (sig x) 0) as [Zx|Zx]; [left; rewrite Zx; lia|]. destruct (Z.eq_dec (sig y) 0) as [Zy|Zy]; [left; rewrite Zy; lia|].
  assert (W : forall f s fr, (0 <= f)%Z -> (fr <= f)%Z -> (1 <= s)%Z -> (2 ^ fr <= s)%Z -> (2 ^ f <= s * 2 ^ (f - fr))%Z).
  { intros f s fr Hf Hr Hs L. destruct (Z_lt_le_dec fr 0) as [N|N].
    - apply Z.le_trans with (1 * 2 ^ (f - fr))%Z; [rewrite Z.mul_1_l; apply Z.pow_le_mono_r; lia|]. apply Z.mul_le_mono_nonneg_r; auto. apply Z.pow_nonneg. lia.
    - replace (2 ^ f)%Z with (2 ^ fr * 2 ^ (f - fr))%Z by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
      apply Z.mul_le_mono_nonneg_r; auto. apply Z.pow_nonneg. lia. }
  destruct Lx as [Lx|Lx]; [easy|]. destruct Ly as [Ly|Ly]; [easy|].
  right. exists (sig x * 2 ^ (fa - frac x))%Z, (sig y * 2 ^ (fb - frac y))%Z. split; [reflexivity|].
  split; (split; [apply W; auto; lia|lia]).
Qed.

(** Of the same value a number whose significand is the product of two with leading bits. *)
Definition few (fa fb : Z) (x : num) : Prop := exists y, V y = V x /\ two_leading fa fb y.

Lemma few_negated fa fb x s : few fa fb x -> few fa fb {| neg := s; sig := sig x; exp := exp x; frac := frac x |}.
Proof.
  intros [y [E T]]. exists {| neg := xorb s (xorb (neg x) (neg y)); sig := sig y; exp := exp y; frac := frac y |}. split; [|exact T].
  unfold V, signed, lsb in *. cbn [neg sig exp frac]. destruct s, (neg x), (neg y); cbn [xorb]; rewrite ?opp_IZR in *; lra.
Qed.

Lemma few_times fa fb x z : few fa fb x -> sig z = 0%Z \/ sig z = 1%Z -> few fa fb (times x z).
Proof.
  intros [y [E T]] Z. exists (times y z). split; [now rewrite !V_times, E|]. unfold two_leading, times in *. cbn [sig].
  destruct Z as [->| ->]; [left; lia|]. now rewrite Z.mul_1_r.
Qed.

Lemma term_fit d t f l lam m x : term_facts d = Some t -> made_by d x -> leading_element d x -> (bits t <= f)%Z -> (0 <= bits t)%Z ->
  (l <= low t)%Z -> share_ok d m lam = true -> forall y, term d x = Num y -> fit_product m f l (IZR lam * / 4096) y.
Proof.
  intros T M [La [Lb Ls]] Bf B0 Ll Sh y E. pose proof (scaled_has d t x T M) as Hs. unfold term in E.
  assert (Hy : has t y) by (apply (Hs y E)).
  pose proof T as T'. unfold term_facts in T'. set (q := factors d) in *.
  destruct (_ && _) eqn:G in T'; [|easy]. repeat rewrite andb_true_iff in G. destruct G as [[[[[Oa Ob] Ka] Kb] St] R].
  destruct (zero_terms q) eqn:Zt; [easy|]. destruct (product_rounding q) eqn:Pr; [easy|]. apply Z.eqb_eq in St.
  assert (A : has_val (factor_facts d (a_format d)) (a_of d x)) by (now apply operand_factor_has).
  assert (B : has_val (factor_facts d (b_format d)) (b_of d x)) by (now apply operand_factor_has).
  assert (Fa : (0 <= fbits (a_format d))%Z) by (unfold operand_ok in Oa; apply andb_prop in Oa; now apply format_bits).
  assert (Fb : (0 <= fbits (b_format d))%Z) by (unfold operand_ok in Ob; apply andb_prop in Ob; now apply format_bits).
  (* the product before scales *)
  unfold scaled_product in E. rewrite Zt, zero_as_none, Pr in E.
  set (w := product (a_of d x) (b_of d x)) in *.
  set (v := if subtracted q (index x) then negate w else w) in *.
  assert (W : forall z, v = Num z -> normal z /\ few (fbits (a_format d)) (fbits (b_format d)) z).
  { assert (W0 : forall z, w = Num z -> normal z /\ few (fbits (a_format d)) (fbits (b_format d)) z).
    { intros z Ez. unfold w in Ez. apply product_num in Ez. destruct Ez as [a [b [Ea [Eb ->]]]].
      pose proof (A a Ea) as A1. pose proof (B b Eb) as B1. pose proof (La a Ea) as La'. pose proof (Lb b Eb) as Lb'.
      split; [apply times_normal; apply leading_normal; auto; [apply A1|apply B1]|].
      exists (times (widened (fbits (a_format d)) a) (widened (fbits (b_format d)) b)). split.
      - rewrite !V_times, !V_widened; auto; [apply B1|apply A1].
      - eapply two_leading_times; eauto. }
    unfold v. destruct (subtracted _ _); auto. intros z Ez. destruct w as [a| |] eqn:Ew; try easy. injection Ez as <-. destruct (W0 a eq_refl) as [N Fw].
    split; [|now apply few_negated]. intros Z. specialize (N Z). rewrite V_abs in *. exact N. }
  assert (X : fold_left product (scaled_by x) v = Num y).
  { destruct (fold_left product (scaled_by x) v) as [z| |]; try easy.
    destruct (match product_limit q with Some k => negb (is_zero z) && (k <=? own_exponent z)%Z | None => false end); [easy|exact E]. }
  clear E.
  assert (N : normal y /\ (plain_scales d = true -> few (fbits (a_format d)) (fbits (b_format d)) y)).
  { unfold made_by in M. unfold plain_scales. destruct (scales d) as [[g k]|].
    - destruct M as [sa [sb Es]]. rewrite Es in X, Ls. cbn [fold_left] in X. destruct (format_ok g) eqn:Og; [|easy].
      apply product_num in X. destruct X as [y1 [z2 [X [D2 ->]]]]. apply product_num in X. destruct X as [y0 [z1 [X [D1 ->]]]].
      inversion Ls as [|? ? L1 Ls']; subst. inversion Ls' as [|? ? L2 _]; subst.
      destruct (W y0 X) as [W1 W2]. pose proof (L1 z1 D1) as Z1. pose proof (L2 z2 D2) as Z2.
      destruct (decode_num _ _ _ Og D1) as [S1 [F1 _]]. destruct (decode_num _ _ _ Og D2) as [S2 [F2 _]]. split.
      + apply times_normal; [apply times_normal; auto|]; apply leading_normal; auto; lia.
      + intros Q. apply Z.eqb_eq in Q. rewrite Q in *. unfold leading in Z1, Z2. rewrite F1 in Z1. rewrite F2 in Z2. cbn in S1, S2, Z1, Z2.
        apply few_times; [apply few_times; auto|]; lia.
    - rewrite M in X. cbn in X. destruct (W y X) as [W1 W2]. auto. }
  destruct N as [N1 N2]. split; [|split; [|split]].
  - apply short_settled. destruct Hy as [_ [H _]]. lia.
  - exact N1.
  - destruct Hy as [_ [_ Hy]]. lia.
  - intros u. unfold share_ok in Sh. destruct (Z.eqb_spec lam 4096) as [El|El].
    + subst lam. replace (4096 * / 4096) with 1 by lra. apply lossy_whole.
    + repeat rewrite andb_true_iff in Sh. destruct Sh as [[Sh1 Sh2] Sh3]. destruct m; try easy. destruct (N2 Sh2) as [y' [Ey Ty]].
      pose proof (few_loss u _ _ lam y' Sh1 Ty) as Q. unfold loss in *. now rewrite Ey in Q.
Qed.

(** The side condition, with lam in 4096ths and the floor e0 of exponents of c. *)
Definition floor_of (d : design) (s : sum) : Z := Z.max (emin (out s)) (least (start_format d)).
Definition low_of (d : design) (t : facts) (s : sum) : Z := Z.min (low t) (Z.min (least (start_format d)) (emin (out s))).

Definition relative_ok (d : design) (f lam : Z) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t =>
      truncated_ok s f (floor_of d s) (low_of d t s) && (bits t <=? f)%Z && (0 <=? bits t)%Z &&
      format_ok (start_format d) && (0 <? Z.of_nat (block d))%Z && share_ok d (alignment s) lam && (0 <=? lam)%Z && (lam <=? 4096)%Z &&
      match c_rule d with Kept => true | _ => false end && negb (odd_first d)
  | _, _ => false
  end.

Lemma terms_sums d b us x : map (term d) b = map Num us ->
  exact_sum (us ++ [x]) = V x + Rsum (map (term_value d) b) /\ magnitude (us ++ [x]) = Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b).
Proof.
  intros Eu. unfold exact_sum, magnitude, term_value. rewrite !map_app, !Rsum_app.
  change (Rsum (map V [x])) with (V x + 0). change (Rsum (map (fun y => Rabs (V y)) [x])) with (Rabs (V x) + 0).
  rewrite <- (map_map (term d) (fun v => V (num_of v))), <- (map_map (term d) (fun v => Rabs (V (num_of v)))), Eu, !map_map, !Rplus_0_r.
  split; apply Rplus_comm.
Qed.

(** A block whose result is a number is a sum of numbers, the terms' and c. *)
Lemma block_taken d s b x z : sum_of d = Some s -> c_rule d = Kept -> odd_first d = false -> zero_terms (factors d) = None -> block_value d (Num x) b = Num z ->
  exists us, map (term d) b = map Num us /\ length us = length b /\ (forall y, In y us -> exists e, In e b /\ term d e = Num y) /\ sum_numbers s (us ++ [x]) = Num z.
Proof.
  intros S Ck Od Zt E. rewrite (block_value_one d s) in E by auto. rewrite taken_kept, Ck, flush_kept in E by exact Zt.
  unfold sum_values in E. destruct (numbers (block_products d b ++ [Num x])) as [ts|] eqn:N; [|exfalso; now apply (special_not_num _ _ E)].
  destruct (numbers_app _ _ _ N) as [us [x' [-> [Ex Eu]]]]. injection Ex as <-.
  unfold block_products, ordered in Eu. rewrite Od in Eu. change (map (term d) b = map Num us) in Eu. exists us. split; [exact Eu|].
  split; [now rewrite <- (map_length Num us), <- Eu, map_length|]. split; [|exact E].
  intros y Hy. assert (I : In (Num y) (map (term d) b)) by (rewrite Eu; now apply in_map). apply in_map_iff in I. destruct I as [e [Ee He]]. eauto.
Qed.

(** Blocks of a design in turn. *)
Definition in_turn (d : design) (bs : list (list element)) (v : val) : val := fold_left (block_value d) bs v.

Lemma not_num_stays d s bs v : sum_of d = Some s -> c_rule d = Kept -> zero_terms (factors d) = None -> is_num v = false ->
  is_num (in_turn d bs v) = false.
Proof.
  intros S K Z. unfold in_turn. revert v. induction bs as [|b r IH]; intros v N; [exact N|]. cbn [fold_left]. apply IH.
  rewrite (block_value_one d s) by auto. rewrite taken_kept, K, flush_kept by auto.
  destruct (sum_values s (block_products d b ++ [v])) as [z| |] eqn:E; auto. exfalso.
  apply sum_values_inv in E. destruct E as [ts E]. assert (I : In v (map Num ts)) by (rewrite <- E; apply in_or_app; right; now left).
  apply in_map_iff in I. destruct I as [y [<- _]]. easy.
Qed.

Section Chain.
Variables (d : design) (s : sum) (t : facts) (f lam : Z).
Hypothesis (S : sum_of d = Some s) (T : term_facts d = Some t) (O : relative_ok d f lam = true).
Let L := units (IZR lam * / 4096) (Z.of_nat (block d)).
Let K := kappa s f L.
Let H := eta s f (floor_of d s) (all_units (Z.of_nat (block d))).

Definition block_ok (b : list element) : Prop :=
  (length b <= block d)%nat /\ Forall (made_by d) b /\ Forall (leading_element d) b.

Lemma chain_step b x z : block_ok b -> fit_c f (floor_of d s) (low_of d t s) x -> block_value d (Num x) b = Num z ->
  fit_c f (floor_of d s) (low_of d t s) z /\
  Rabs (V z - (V x + Rsum (map (term_value d) b))) <= K * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)) + H.
Proof.
  intros [Lb [Mb Lead]] Fx E. unfold relative_ok in O. rewrite S, T in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[Tr B1] B0] Of] Bn] Sh] L0] L1] Ck] Of1].
  apply Z.leb_le in B1, B0, L0, L1. apply negb_true_iff in Of1. destruct (c_rule d) eqn:Ckr; try easy.
  destruct (block_taken d s b x z S Ckr Of1 (term_facts_zero d t T) E) as [us [Eu [Lu [In1 Sz]]]].
  assert (Fu : Forall (fit_product (alignment s) f (low_of d t s) (IZR lam * / 4096)) us).
  { apply Forall_forall. intros y Hy. destruct (In1 y Hy) as [e [He Ee]]. rewrite Forall_forall in Mb, Lead.
    eapply term_fit; eauto. unfold low_of. lia. }
  destruct (block_loss s f (floor_of d s) (low_of d t s) (IZR lam * / 4096) (Z.of_nat (block d)) us x z) as [R F]; auto.
  - apply IZR_le in L0. apply IZR_le in L1. lra.
  - lia.
  - split; auto. destruct (terms_sums d b us x Eu) as [E1 E2]. rewrite E1, E2 in R. exact R.
Qed.

Lemma K_pos : 0 <= K /\ 0 <= H.
Proof.
  unfold relative_ok in O. rewrite S, T in O. repeat rewrite andb_true_iff in O. destruct O as [[[[_ L0] L1] _] _].
  apply Z.leb_le in L0. assert (0 <= L) by (apply units_pos; apply IZR_le in L0; lra). split; [now apply kappa_pos|].
  apply eta_pos. unfold all_units. assert (0 <= IZR (Z.of_nat (block d))) by (apply IZR_le; lia). lra.
Qed.

(** From a c that is wrong by C times the magnitudes so far and J, the error after m blocks more. *)
Lemma chain_growth bs : forall x z S0 A C J, Forall block_ok bs -> fit_c f (floor_of d s) (low_of d t s) x -> 0 <= C -> 0 <= J ->
  Rabs S0 <= A -> Rabs (V x - S0) <= C * A + J -> in_turn d bs (Num x) = Num z ->
  Rabs (V z - (S0 + Rsum (map (term_value d) (concat bs)))) <=
    ((1 + C) * (1 + K) ^ length bs - 1) * (A + Rsum (map (fun e => Rabs (term_value d e)) (concat bs))) +
    ((1 + K) ^ length bs * J + H * geometric K (length bs)).
Proof.
  destruct K_pos as [K0 H0].
  induction bs as [|b r IH]; intros x z S0 A C J F Fx C0 J0 SA E R.
  - cbn in R. injection R as <-. cbn. rewrite !Rplus_0_r, !Rmult_1_r. lra.
  - apply Forall_cons_iff in F. destruct F as [Fb Fr]. unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d r (block_value d (Num x) b)) in R.
    destruct (block_value d (Num x) b) as [y| |] eqn:Ey.
    2,3: exfalso;
      (assert (G : c_rule d = Kept) by (unfold relative_ok in O; rewrite S, T in O; repeat rewrite andb_true_iff in O; destruct O as [[_ Q] _]; now destruct (c_rule d)));
      match type of R with in_turn d _ ?v = _ => pose proof (not_num_stays d s r v S G (term_facts_zero d t T) eq_refl) as NN; rewrite R in NN; easy end.
    destruct (chain_step b x y Fb Fx Ey) as [Fy Sy]. cbn [concat]. rewrite !map_app, !Rsum_app.
    set (sb := Rsum (map (term_value d) b)) in *. set (ab := Rsum (map (fun e => Rabs (term_value d e)) b)) in *.
    assert (ab0 : 0 <= ab) by (apply Rsum_nonneg; intros; apply Rabs_pos).
    assert (sab : Rabs sb <= ab).
    { unfold sb, ab. clear. induction b; cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. }
    pose proof (growth_step K H (V x) S0 A C J (V y) sb ab K0 C0 ab0 SA E Sy) as G.
    assert (Q : Rabs (V z - (S0 + sb + Rsum (map (term_value d) (concat r)))) <=
      ((1 + ((1 + C) * (1 + K) - 1)) * (1 + K) ^ length r - 1) * (A + ab + Rsum (map (fun e => Rabs (term_value d e)) (concat r))) +
      ((1 + K) ^ length r * ((1 + K) * J + H) + H * geometric K (length r))).
    { apply (IH y); auto. nra. nra. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    replace (S0 + (sb + Rsum (map (term_value d) (concat r)))) with (S0 + sb + Rsum (map (term_value d) (concat r))) by ring.
    eapply Rle_trans; [exact Q|]. apply Req_le. cbn [length pow geometric]. ring.
Qed.

End Chain.

Lemma start_fit d s t f lam w x : sum_of d = Some s -> term_facts d = Some t -> relative_ok d f lam = true ->
  decode (start_format d) w = Num x -> settled f x -> fit_c f (floor_of d s) (low_of d t s) x.
Proof.
  intros S T O D Sx. unfold relative_ok in O. rewrite S, T in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[Tr B1] B0] Of] Bn] Sh] L0] L1] Ck] Of1].
  destruct (decode_num _ _ _ Of D) as [A [B [C E]]]. pose proof (format_bits _ Of) as Fb. split; [exact Sx|].
  split; [|unfold low_of; lia]. intros Z. destruct E as [E|E].
  - left. assert (N : normal x); [|now apply N]. apply leading_normal; [lia|]. right. now rewrite B.
  - right. unfold floor_of. lia.
Qed.

(** A c of at most F fraction bits, and 0, stay as they are. *)
Lemma format_settled f w x d : format_ok f = true -> (fbits f <=? d)%Z = true -> decode f w = Num x -> settled d x.
Proof. intros O L D. destruct (decode_num _ _ _ O D) as [_ [B _]]. apply short_settled. lia. Qed.

Lemma zero_settled f x : is_zero x = true -> settled f x.
Proof. intros Z. unfold settled. rewrite V_zero by auto. apply generic_format_0. Qed.

(** The number of blocks. *)
Definition blocks_of_word (d : design) (w : words) : list (list element) := cut_list (length (elements d w)) (block d) (elements d w).

Lemma concat_cut {A} n : (0 < n)%nat -> forall k (l : list A), (length l <= k)%nat -> concat (cut_list k n l) = l.
Proof.
  intros Hn. induction k as [|k IH]; intros [|x r] L; auto; [cbn in L; lia|].
  change (cut_list (S k) n (x :: r)) with (firstn n (x :: r) :: cut_list k n (skipn n (x :: r))). cbn [concat].
  rewrite IH. apply firstn_skipn. rewrite skipn_length. cbn [length] in *. lia.
Qed.

Lemma leading_blocks d w : (0 < block d)%nat -> Forall (leading_element d) (elements d w) ->
  Forall (block_ok d) (blocks_of_word d w) /\ concat (blocks_of_word d w) = elements d w.
Proof.
  intros Bn Le. split; [|apply concat_cut; auto].
  pose proof (cut_list_blocks (fun e => made_by d e /\ leading_element d e) (block d) Bn (length (elements d w)) (elements d w)) as G.
  eapply Forall_impl; [|apply G].
  - intros b [Lb Fb]. split; auto. split; (eapply Forall_impl; [|exact Fb]); intros e He; apply He.
  - pose proof (elements_made d w) as Mm. rewrite Forall_forall in *. auto.
Qed.

(** The relative error of a dot product of any length on a unit of truncated sums: for all words whose products have leading
    bits, any c of at most F fraction bits and m blocks, |d - exact| <= ((1 + kappa)^m - 1) (|c| + Σ|terms|) + eta (1 + ... + (1 + kappa)^(m-1)), where eta
    counts only beside subnormal results and a subnormal c. *)
Theorem relative_error_any_length d s f lam w z x :
  sum_of d = Some s -> relative_ok d f lam = true -> composed d = None ->
  decode (c_format d) (c_word w) = Num x -> settled f x -> Forall (leading_element d) (elements d w) -> value d w = Num z ->
  let k := kappa s f (units (IZR lam * / 4096) (Z.of_nat (block d))) in
  let h := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  let m := length (blocks_of_word d w) in
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    ((1 + k) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) + h * geometric k m.
Proof.
  intros Hs O Co Dc Sx Le Vz k h m.
  destruct (term_facts d) as [t|] eqn:T; [|unfold relative_ok in O; rewrite Hs, T in O; easy].
  assert (Bn : (0 < block d)%nat).
  { unfold relative_ok in O. rewrite Hs, T in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[_ Bn] _] _] _] _] _]. lia. }
  unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  destruct (leading_blocks d w Bn Le) as [F Cc].
  assert (Fx : fit_c f (floor_of d s) (low_of d t s) x).
  { apply (start_fit d s t f lam (c_word w)); auto. unfold start_format. now rewrite Co. }
  pose proof (chain_growth d s t f lam Hs T O (blocks_of_word d w) x z (V x) (Rabs (V x)) 0 0 F Fx ltac:(lra) ltac:(lra) (Rle_refl _)) as G.
  rewrite Rminus_eq_0, Rabs_R0 in G. specialize (G ltac:(lra) Vz). fold k h m in G.
  rewrite Cc in G. eapply Rle_trans; [exact G|]. apply Req_le. fold m. ring.
Qed.
