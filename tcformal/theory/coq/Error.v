(** One sum as a real number: conversions depend on the number alone, designs agree where nothing is cut off, and the error
    of a sum whose terms are cut. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order.
Import ListNotations.
Open Scope R_scope.

(** ** A conversion depends on the real number alone *)

Lemma scaled_zero n n' u u' : IZR n * bp u = IZR n' * bp u' -> (n =? 0)%Z = (n' =? 0)%Z.
Proof.
  intros H. pose proof (bpow_gt_0 radix2 u). pose proof (bpow_gt_0 radix2 u').
  destruct (Z.eqb_spec n 0), (Z.eqb_spec n' 0); auto; subst; exfalso.
  - rewrite Rmult_0_l in H. apply n0. apply eq_IZR. nra.
  - rewrite Rmult_0_l in H. apply n0. apply eq_IZR. nra.
Qed.

Lemma scaled_neg n n' u u' : IZR n * bp u = IZR n' * bp u' -> (n <? 0)%Z = (n' <? 0)%Z.
Proof.
  intros H. pose proof (bpow_gt_0 radix2 u). pose proof (bpow_gt_0 radix2 u').
  destruct (Z.ltb_spec n 0) as [h|h], (Z.ltb_spec n' 0) as [h'|h']; auto; exfalso.
  - apply IZR_lt in h. apply IZR_le in h'. nra.
  - apply IZR_le in h. apply IZR_lt in h'. nra.
Qed.

Lemma scaled_pos n n' u u' : IZR n * bp u = IZR n' * bp u' -> (0 <? n)%Z = (0 <? n')%Z.
Proof.
  intros H. pose proof (bpow_gt_0 radix2 u). pose proof (bpow_gt_0 radix2 u').
  destruct (Z.ltb_spec 0 n) as [h|h], (Z.ltb_spec 0 n') as [h'|h']; auto; exfalso.
  - apply IZR_lt in h. apply IZR_le in h'. nra.
  - apply IZR_le in h. apply IZR_lt in h'. nra.
Qed.

Lemma is_tiny_ext c n n' u u' : n <> 0%Z -> n' <> 0%Z -> IZR n * bp u = IZR n' * bp u' -> is_tiny c n u = is_tiny c n' u'.
Proof.
  intros N N' H. unfold is_tiny.
  assert (E : (Z.log2 (Z.abs n) + u - p c = Z.log2 (Z.abs n') + u' - p c)%Z).
  { pose proof (log2_mag n u N) as L. rewrite H, log2_mag in L by easy. lia. }
  rewrite <- E. set (ex := (Z.log2 (Z.abs n) + u - p c)%Z).
  replace (round_div (rho c) n' (ex - u')) with (round_div (rho c) n (ex - u)); auto.
  rewrite !round_div_ok. f_equal.
  replace (- (ex - u))%Z with (u + - ex)%Z by lia. replace (- (ex - u'))%Z with (u' + - ex)%Z by lia.
  rewrite !bpow_plus, <- !Rmult_assoc. now rewrite H.
Qed.

Lemma convert_ext c s s' n n' u u' :
  IZR n * bp u = IZR n' * bp u' -> s = s' -> convert c s n u = convert c s' n' u'.
Proof.
  intros H <-. pose proof (scaled_zero _ _ _ _ H) as H0.
  assert (E : last_bit c n u = last_bit c n' u').
  { destruct (Z.eqb_spec n 0) as [->|N].
    - symmetry in H0. apply Z.eqb_eq in H0. now subst.
    - symmetry in H0. apply Z.eqb_neq in H0. now rewrite !last_bit_ok, H by easy. }
  assert (D : round_div (rho c) n (last_bit c n u - u) = round_div (rho c) n' (last_bit c n' u' - u')).
  { rewrite !round_div_ok, E. f_equal.
    replace (- (last_bit c n' u' - u))%Z with (u + - last_bit c n' u')%Z by lia.
    replace (- (last_bit c n' u' - u'))%Z with (u' + - last_bit c n' u')%Z by lia.
    rewrite !bpow_plus, <- !Rmult_assoc. now rewrite H. }
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Z.eqb_refl in H0. symmetry in H0. apply Z.eqb_eq in H0. subst. apply convert_zero. }
  assert (N' : n' <> 0%Z) by (intros ->; rewrite Z.eqb_refl in H0; now apply Z.eqb_eq in H0).
  unfold convert, is_infinite. rewrite <- D, <- E, <- H0, (is_tiny_ext c n n' u u') by easy.
  now rewrite (scaled_neg _ _ _ _ H), (scaled_pos _ _ _ _ H).
Qed.

(** ** Where nothing is cut off, the sum is exact, and designs with the same conversion agree *)

Definition exact_sum (ts : list num) : R := Rsum (map V ts).

Definition lossless (u : Z) (ts : list num) : Prop := Forall (fun x => is_zero x = false -> (u <= lsb x)%Z) ts.

Lemma V_zero x : is_zero x = true -> V x = 0.
Proof. unfold is_zero, V. intros H. apply Z.eqb_eq in H. rewrite signed_0 by easy. lra. Qed.

Lemma fix_rnd_exact m u x : (is_zero x = false -> (u <= lsb x)%Z) -> fix_rnd m u (V x) = V x.
Proof.
  intros H. unfold fix_rnd. destruct (is_zero x) eqn:Z.
  - rewrite V_zero by easy. apply round_0. auto with typeclass_instances.
  - apply round_generic; auto with typeclass_instances. apply generic_format_FIX.
    exists (Float radix2 (signed x * 2 ^ (lsb x - u)) u); [|reflexivity].
    unfold F2R, V; simpl. rewrite mult_IZR, <- bp_Z by (specialize (H eq_refl); lia).
    rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma Rsum_ext {A} (f g : A -> R) l : (forall x, In x l -> f x = g x) -> Rsum (map f l) = Rsum (map g l).
Proof. intros H. f_equal. now apply map_ext_in. Qed.

Lemma lossless_total d ts : lossless (unit_of d ts) ts ->
  IZR (zsum (counts d ts)) * bp (unit_of d ts) = exact_sum ts.
Proof.
  intros H. rewrite counts_ok. apply Rsum_ext. intros x Hx. apply fix_rnd_exact.
  unfold lossless in H. rewrite Forall_forall in H. auto.
Qed.

(** The register does not wrap on these terms. *)
Definition exact_total (d : sum) (ts : list num) : Prop := total d ts = zsum (counts d ts).

Lemma no_carry_exact d ts : carry_bits d = None -> exact_total d ts.
Proof. unfold exact_total, total. now intros ->. Qed.

Lemma lossless_counts_zero d ts : lossless (unit_of d ts) ts ->
  forallb (Z.eqb 0) (counts d ts) = forallb is_zero ts.
Proof.
  unfold counts, lossless. generalize (unit_of d ts) as u. intros u H. induction H as [|x l Hx H IH]; simpl; auto.
  rewrite IH. f_equal. destruct (is_zero x) eqn:Hz.
  - now rewrite cut_zero.
  - assert (N : cut (alignment d) u x <> 0%Z); [|now destruct (cut (alignment d) u x)].
    intros E. pose proof (cut_ok (alignment d) u x) as C. rewrite E in C.
    rewrite fix_rnd_exact in C by auto. unfold V in C. pose proof (bpow_gt_0 radix2 (lsb x)).
    assert (N : signed x <> 0%Z). { unfold is_zero in Hz. apply Z.eqb_neq in Hz. unfold signed. destruct (neg x); lia. }
    apply N. apply eq_IZR. nra.
Qed.

(** Two sums with one conversion, neither of which cuts anything off, give the same. *)
Theorem agreement d d' ts :
  out d = out d' -> lossless (unit_of d ts) ts -> lossless (unit_of d' ts) ts -> exact_total d ts -> exact_total d' ts ->
  sum_numbers d ts = sum_numbers d' ts.
Proof.
  intros Ho L L' T T'. unfold sum_numbers. rewrite Ho, T, T'.
  assert (E : IZR (zsum (counts d ts)) * bp (unit_of d ts) = IZR (zsum (counts d' ts)) * bp (unit_of d' ts)).
  { now rewrite !lossless_total. }
  apply convert_ext; auto. unfold sign_of.
  now rewrite (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E), !lossless_counts_zero by easy.
Qed.

(** ** What a term, and a sum of terms, loses *)

Lemma fix_rnd_err m u x : Rabs (fix_rnd m u x - x) < bp u.
Proof.
  destruct (Req_dec x 0) as [->|H].
  - unfold fix_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. apply bpow_gt_0.
  - rewrite <- (ulp_FIX radix2 u x). apply error_lt_ulp; auto with typeclass_instances.
Qed.

(** Truncation takes less than a unit off the magnitude of a term. *)
Theorem truncated_term u x : 0 <= Rabs x - Rabs (fix_rnd RZ u x) < bp u.
Proof.
  pose proof (fix_rnd_err RZ u x) as E. unfold fix_rnd in *; simpl rnd in *.
  destruct (Rle_or_lt 0 x) as [H|H].
  - assert (0 <= round radix2 (FIX_exp u) Ztrunc x <= x).
    { split. apply round_ge_generic; auto with typeclass_instances. apply generic_format_0.
      rewrite round_ZR_DN by easy. apply round_DN_pt; auto with typeclass_instances. }
    rewrite !Rabs_pos_eq by lra. rewrite Rabs_left1 in E; lra.
  - assert (x <= round radix2 (FIX_exp u) Ztrunc x <= 0).
    { split. rewrite round_ZR_UP by lra. apply round_UP_pt; auto with typeclass_instances.
      apply round_le_generic; auto with typeclass_instances. apply generic_format_0. lra. }
    rewrite !Rabs_left1 by lra. rewrite Rabs_pos_eq in E; lra.
Qed.

(** Terms that can lose bits at a unit of [2^u]. *)
Definition lossy (u : Z) (ts : list num) : Z := Z.of_nat (length (filter (fun x => negb (is_zero x) && (lsb x <? u)%Z) ts)).

Lemma lossy_le u ts : (0 <= lossy u ts <= Z.of_nat (length ts))%Z.
Proof. unfold lossy. split; [lia|]. apply inj_le. induction ts; simpl; auto. destruct (_ && _); simpl; lia. Qed.

Lemma cut_sum_err m u ts :
  Rabs (Rsum (map (fun x => fix_rnd m u (V x)) ts) - exact_sum ts) <= IZR (lossy u ts) * bp u.
Proof.
  unfold exact_sum, lossy. induction ts as [|x ts IH]; simpl.
  - rewrite Rminus_0_r, Rabs_R0, Rmult_0_l. lra.
  - replace (_ + _ - _) with ((fix_rnd m u (V x) - V x) + (Rsum (map (fun x => fix_rnd m u (V x)) ts) - Rsum (map V ts))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. destruct (negb (is_zero x) && (lsb x <? u)%Z) eqn:B; simpl length.
    + rewrite Nat2Z.inj_succ, succ_IZR, Rmult_plus_distr_r, Rmult_1_l.
      pose proof (fix_rnd_err m u (V x)). lra.
    + rewrite (fix_rnd_exact m u x). { rewrite Rminus_eq_0, Rabs_R0. lra. }
      intros Z. rewrite Z in B. simpl in B. lia.
Qed.

(** ** The number that a conversion gives *)

Definition always_infinite (c : conversion) : bool :=
  match overflow c, rho c with Infinite, _ | Directed, (RNE | RNA | SR _ _) => true | _, _ => false end.

(** Overflow is an infinity, and subnormals are kept: what the theorems about errors ask of a conversion. *)
Definition plain (c : conversion) : bool :=
  negb (flushes c) && always_infinite c && (0 <=? p c)%Z.

Lemma plain_flushes c : plain c = true -> flushes c = false.
Proof. unfold plain. destruct (flushes c); simpl; easy. Qed.

Lemma plain_p c : plain c = true -> (0 <= p c)%Z.
Proof. unfold plain. intros H. apply andb_prop in H. lia. Qed.

Global Instance flt_valid c : (0 <= p c)%Z -> Valid_exp (flt c).
Proof. intros H. apply FLT_exp_valid. unfold Prec_gt_0. lia. Qed.

(** A conversion gives the number that Flocq's rounding to the format gives. *)
Theorem convert_num c s n u z : plain c = true -> convert c s n u = Num z -> V z = flt_rnd c (IZR n * bp u).
Proof.
  intros P H. rewrite <- round_ok. pose proof (plain_flushes _ P) as F. unfold convert in H. rewrite F in H.
  simpl in H. rewrite orb_false_r in H. set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct (Z.eqb_spec r 0) as [R0|R].
  - injection H as <-. rewrite R0. unfold V, signed; simpl. destruct (_ && s); simpl; lra.
  - destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
    + exfalso. unfold plain in P. rewrite F in P. simpl in P. apply andb_prop in P. destruct P as [P _].
      unfold is_infinite, always_infinite in *. destruct (overflow c), (rho c); easy.
    + injection H as <-. unfold V, signed, lsb; simpl.
      replace (if (r <? 0)%Z then (- Z.abs r)%Z else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia).
      do 2 f_equal. lia.
Qed.

(** ** The error of one sum *)

Definition Rulp c x := ulp radix2 (flt c) x.

Lemma flt_err c x : (0 <= p c)%Z -> Rabs (flt_rnd c x - x) < Rulp c (flt_rnd c x).
Proof.
  intros P. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd, Rulp, flt.
  destruct (Req_dec x 0) as [->|H0].
  - rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances.
    rewrite ulp_FLT_small; auto with typeclass_instances. apply bpow_gt_0. rewrite Rabs_R0. apply bpow_gt_0.
  - apply error_lt_ulp_round; auto with typeclass_instances.
Qed.

(** With E an exponent that no term's exceeds, and L terms: |d - sum| < L * 2^(E-F) + ulp(d). *)
Lemma largest_none d ts x : largest d ts = None -> In x ts -> is_zero x = true.
Proof.
  intros Q Hx. pose proof (largest_in d ts x Hx) as I. rewrite Q in I. unfold term_exponent in I.
  destruct (is_zero x); easy.
Qed.
