(** Exponents of zeros that do not show, because where they are the largest nothing is cut off. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs.
Import ListNotations.
Open Scope Z_scope.

(** * Multiples of a power of two *)

Definition multiple (g : Z) (x : num) : Prop := (2 ^ Z.max 0 (g - lsb x) | signed x).

Lemma pow_divides a b : 0 <= a <= b -> (2 ^ a | 2 ^ b).
Proof. intros H. exists (2 ^ (b - a)). rewrite <- Z.pow_add_r by lia. f_equal. lia. Qed.

Lemma multiple_lsb g x : g <= lsb x -> multiple g x.
Proof. intros H. unfold multiple. rewrite Z.max_l by lia. apply Z.divide_1_l. Qed.

Lemma multiple_zero g x : is_zero x = true -> multiple g x.
Proof. unfold multiple, is_zero, signed. intros H. apply Z.eqb_eq in H. rewrite H. destruct (neg x); apply Z.divide_0_r. Qed.

Lemma multiple_le g h x : h <= g -> multiple g x -> multiple h x.
Proof. intros H M. eapply Z.divide_trans; [|exact M]. apply pow_divides. lia. Qed.

Lemma fix_rnd_multiple m u x : multiple u x -> fix_rnd m u (V x) = V x.
Proof.
  intros [q M]. unfold fix_rnd. apply round_generic; auto with typeclass_instances. apply generic_format_FIX.
  exists (Float radix2 (q * 2 ^ Z.max 0 (lsb x - u)) u); [|reflexivity]. unfold F2R, V. cbn [Fnum Fexp]. rewrite M, !mult_IZR, <- !bp_Z, !Rmult_assoc, <- !bpow_plus by lia.
  do 2 f_equal. lia.
Qed.

Lemma multiples_total d ts : Forall (multiple (unit_of d ts)) ts -> (IZR (zsum (counts d ts)) * bp (unit_of d ts) = exact_sum ts)%R.
Proof. intros H. rewrite counts_ok. apply Rsum_ext. intros x Hx. apply fix_rnd_multiple. rewrite Forall_forall in H. auto. Qed.

Lemma multiples_zero d ts : Forall (multiple (unit_of d ts)) ts -> forallb (Z.eqb 0) (counts d ts) = forallb is_zero ts.
Proof.
  unfold counts. generalize (unit_of d ts) as u. intros u H. induction H as [|x l Hx H IH]; cbn [map forallb]; auto.
  rewrite IH. f_equal. destruct (is_zero x) eqn:Hz; [now rewrite cut_zero|].
  assert (N : cut (alignment d) u x <> 0); [|now destruct (cut (alignment d) u x)].
  intros E. pose proof (cut_ok (alignment d) u x) as C. rewrite E, fix_rnd_multiple in C by auto. unfold V in C. pose proof (bpow_gt_0 radix2 (lsb x)).
  unfold is_zero in Hz. apply Z.eqb_neq in Hz. assert (N : signed x <> 0) by (unfold signed; destruct (neg x); lia). apply N, eq_IZR. nra.
Qed.

(** Two sums with one conversion, of multiples of their units, give the same. *)
Lemma multiples_agree d d' ts : out d = out d' -> Forall (multiple (unit_of d ts)) ts -> Forall (multiple (unit_of d' ts)) ts ->
  exact_total d ts -> exact_total d' ts -> sum_numbers d ts = sum_numbers d' ts.
Proof.
  intros Ho L L' T T'. unfold sum_numbers. rewrite Ho, T, T'.
  assert (E : (IZR (zsum (counts d ts)) * bp (unit_of d ts) = IZR (zsum (counts d' ts)) * bp (unit_of d' ts))%R) by now rewrite !multiples_total.
  apply convert_ext; auto. unfold sign_of. now rewrite (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E), !multiples_zero by easy.
Qed.

Lemma sum_zero_cut s f ts : fraction_bits s = Some f -> carry_bits s = None -> normalise s = false ->
  (forall x e a, In x ts -> is_zero x = true -> term_exponent s x = Some e -> In a ts -> multiple (e - f) a) ->
  sum_numbers s ts = sum_numbers (with_zero s ZeroNone) ts.
Proof.
  intros F K Nn L. destruct (forallb is_zero ts) eqn:Az. { apply all_zeros; auto. now rewrite K. }
  set (s0 := with_zero s ZeroNone).
  assert (exists y, In y ts /\ is_zero y = false) as [y [Hy Ny]].
  { clear -Az. induction ts as [|a l IH]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *.
    - destruct IH as [y [? ?]]; auto. exists y; auto.
    - exists a; auto. }
  pose proof (largest_in s0 ts y Hy) as I0. unfold term_exponent in I0. rewrite Ny in I0. change (normalise s0) with (normalise s) in I0. rewrite Nn in I0.
  destruct (largest s0 ts) as [e0|] eqn:E0; [|easy].
  destruct (largest_attained s0 ts e0 E0) as [x0 [Hx0 T0]]. unfold term_exponent in T0. change (normalise s0) with (normalise s) in T0. rewrite Nn in T0.
  destruct (is_zero x0) eqn:Zx0; [easy|]. injection T0 as T0.
  pose proof (largest_in s ts x0 Hx0) as I1. unfold term_exponent in I1. rewrite Zx0, Nn in I1. destruct (largest s ts) as [e|] eqn:E; [|easy]. cbn in I1.
  destruct (largest_attained s ts e E) as [x [Hx T]].
  assert (U : unit_of s ts = e - f) by (unfold unit_of; now rewrite F, E).
  assert (U0 : unit_of s0 ts = e0 - f) by (unfold unit_of; change (fraction_bits s0) with (fraction_bits s); now rewrite F, E0).
  destruct (is_zero x) eqn:Zx.
  - destruct (Z.eq_dec e e0) as [Q|Q]; [apply sum_numbers_ext; auto; fold s0; congruence|].
    apply multiples_agree; auto using no_carry_exact; apply Forall_forall; intros a Ha; specialize (L x e a Hx Zx T Ha);
      fold s0; rewrite ?U, ?U0; auto. apply multiple_le with (e - f); auto. lia.
  - unfold term_exponent in T. rewrite Zx, Nn in T. injection T as T. pose proof (largest_in s0 ts x Hx) as I2. unfold term_exponent in I2. rewrite Zx in I2. change (normalise s0) with (normalise s) in I2. rewrite Nn, E0 in I2. cbn in I2.
    apply sum_numbers_ext; auto. fold s0. rewrite U, U0. lia.
Qed.
