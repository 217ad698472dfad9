(** What one sum loses, beside the magnitudes of its terms: truncated sums, with a constant for products of few bits, and
    exact sums that are rounded, flushing included. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant.
Import ListNotations.
Open Scope R_scope.

Definition nearest (m : mode) : bool := match m with RNE | RNA => true | _ => false end.

(** How much of an ulp a rounding loses at most, as a share of a number's leading bit. *)
Definition share (c : conversion) : R := if nearest (rho c) then bp (- p c - 1) else bp (- p c).

Lemma share_pos c : 0 < share c.
Proof. unfold share. destruct (nearest _); apply bpow_gt_0. Qed.

(** * One truncated sum *)

(** Units of 2^(E-F) that a block loses beside its rounding, where its terms lose [L]: a rounding that is no nearest one
    loses a unit less than an ulp. *)
Definition kept (c : conversion) (L : R) : R := if nearest (rho c) then L else Rmax (L - 1) 0.

Lemma kept_pos c L : 0 <= L -> 0 <= kept c L.
Proof. unfold kept. intros. destruct (nearest _); auto. apply Rmax_r. Qed.

(** The error of a sum whose terms lose L units of 2^(E-F) when they are cut, and whose count is at most 2^M. *)
Lemma sum_loss d f ts E z L M :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z -> fraction_bits d = Some f -> (p (out d) <= f)%Z ->
  largest d ts = Some E -> (E <= M)%Z -> (emin (out d) <= M)%Z -> 0 <= L ->
  let n := zsum (counts d ts) in
  Rabs (IZR n * bp (E - f) - exact_sum ts) <= L * bp (E - f) -> (n <> 0%Z -> (Z.log2 (Z.abs n) + (E - f) <= M)%Z) ->
  Rabs (V z - exact_sum ts) <= kept (out d) L * bp (E - f) + share (out d) * bp M.
Proof.
  intros P T H F Pf La EM eM L0 n Er LM. pose proof (plain_p _ P) as Pp.
  unfold sum_numbers in H. rewrite T in H. pose proof (convert_num _ _ _ _ _ P H) as C. clear H. fold n in C.
  assert (U : unit_of d ts = (E - f)%Z) by (unfold unit_of; now rewrite F, La). rewrite U in C.
  set (S := IZR n * bp (E - f)) in *. pose proof (bpow_gt_0 radix2 (E - f)) as B0.
  replace (V z - exact_sum ts) with ((V z - S) + (S - exact_sum ts)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite C. unfold kept, share.
  assert (Q : bp (M - p (out d)) = bp (- p (out d)) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  assert (Q1 : bp (M - p (out d) - 1) = bp (- p (out d) - 1) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  destruct (nearest (rho (out d))) eqn:Ne.
  - assert (NE : rho (out d) = RNE \/ rho (out d) = RNA) by (destruct (rho (out d)); try easy; auto).
    pose proof (conversion_loss_nearest (out d) n (E - f) M NE Pp eM LM) as CL. fold S in CL. lra.
  - pose proof (conversion_loss (out d) n (E - f) M Pp eM ltac:(lia) LM) as CL. fold S in CL.
    pose proof (Rmax_l (L - 1) 0) as R1. assert ((L - 1) * bp (E - f) <= Rmax (L - 1) 0 * bp (E - f)) by (apply Rmult_le_compat_r; lra).
    lra.
Qed.

(** How much larger than the magnitudes a count can be: nothing where terms are cut toward zero. *)
Definition growth (m : mode) (f : Z) (L : R) : R := match m with RZ => 0 | _ => L * bp (- f) end.

Lemma growth_pos m f L : 0 <= L -> 0 <= growth m f L.
Proof. intros. pose proof (bpow_ge_0 radix2 (- f)). destruct m; cbn; nra. Qed.

(** The constants: the error is at most [kappa] times the magnitudes, and [eta] more where the largest exponent is that of
    a number without a leading bit, at most [e0]. *)
Definition kappa (d : sum) (f : Z) (L : R) : R := kept (out d) L * bp (- f) + share (out d) * (1 + growth (alignment d) f L).
Definition eta (d : sum) (f e0 : Z) (L : R) : R :=
  kept (out d) L * bp (e0 - f) + share (out d) * ((1 + growth (alignment d) f L) * bp (Z.max e0 (emin (out d)))).

Lemma kappa_pos d f L : 0 <= L -> 0 <= kappa d f L.
Proof.
  intros L0. unfold kappa. pose proof (kept_pos (out d) L L0). pose proof (share_pos (out d)). pose proof (growth_pos (alignment d) f L L0).
  pose proof (bpow_ge_0 radix2 (- f)). apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
Qed.

Lemma eta_pos d f e0 L : 0 <= L -> 0 <= eta d f e0 L.
Proof.
  intros L0. unfold eta. pose proof (kept_pos (out d) L L0). pose proof (share_pos (out d)). pose proof (growth_pos (alignment d) f L L0).
  pose proof (bpow_ge_0 radix2 (e0 - f)). pose proof (bpow_ge_0 radix2 (Z.max e0 (emin (out d)))).
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra. apply Rmult_le_pos; lra.
Qed.

(** A count's leading bit lies below the magnitudes, and what their cutting adds. *)
Lemma count_bound d f ts E L A : 0 <= L -> unit_of d ts = (E - f)%Z -> magnitude ts <= A -> bp E <= A ->
  Rabs (IZR (zsum (counts d ts)) * bp (E - f) - exact_sum ts) <= L * bp (E - f) ->
  Rabs (IZR (zsum (counts d ts)) * bp (E - f)) <= (1 + growth (alignment d) f L) * A.
Proof.
  intros L0 U MA EA Er. pose proof (exact_sum_abs ts) as X.
  assert (B : bp (E - f) = bp (- f) * bp E) by (rewrite <- bpow_plus; f_equal; lia).
  pose proof (bpow_ge_0 radix2 (- f)) as B0. pose proof (bpow_gt_0 radix2 E) as B1.
  assert (G : alignment d = RZ \/ growth (alignment d) f L = L * bp (- f)) by (destruct (alignment d); auto).
  destruct G as [G| ->].
  - rewrite G. cbn [growth]. rewrite Rplus_0_r, Rmult_1_l. pose proof (counts_ok d ts) as K. cbv zeta in K. rewrite U, G in K. rewrite K.
    pose proof (cut_sum_abs (E - f) ts). lra.
  - replace (IZR (zsum (counts d ts)) * bp (E - f)) with ((IZR (zsum (counts d ts)) * bp (E - f) - exact_sum ts) + exact_sum ts) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (L * bp (- f) * bp E <= L * bp (- f) * A) by (apply Rmult_le_compat_l; auto; now apply Rmult_le_pos).
    assert (L * bp (E - f) = L * bp (- f) * bp E) by (rewrite B; ring). lra.
Qed.

(** Without such conditions: 2^E is no more than what the terms' magnitudes are at most, or E is at most e0. *)
Theorem sum_within d f ts E e0 z L A :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z -> fraction_bits d = Some f -> (p (out d) <= f)%Z ->
  largest d ts = Some E -> 0 <= L -> magnitude ts <= A -> bp E <= A \/ (E <= e0)%Z ->
  Rabs (IZR (zsum (counts d ts)) * bp (E - f) - exact_sum ts) <= L * bp (E - f) ->
  Rabs (V z - exact_sum ts) <= kappa d f L * A + eta d f e0 L.
Proof.
  intros P T H F Pf La L0 MA BE Er. set (n := zsum (counts d ts)) in *.
  assert (U : unit_of d ts = (E - f)%Z) by (unfold unit_of; now rewrite F, La).
  set (em := emin (out d)) in *.
  set (M := Z.max (Z.max E em) (if (n =? 0)%Z then E else (Z.log2 (Z.abs n) + (E - f))%Z)).
  assert (LM : (n <> 0)%Z -> (Z.log2 (Z.abs n) + (E - f) <= M)%Z) by (unfold M; destruct (Z.eqb_spec n 0); lia).
  pose proof (sum_loss d f ts E z L M P T H F Pf La ltac:(lia) ltac:(unfold M, em; lia) L0 Er LM) as S.
  set (g := growth (alignment d) f L).
  assert (A0 : 0 <= A) by (eapply Rle_trans; [|exact MA]; apply Rsum_nonneg; intros; apply Rabs_pos).
  pose proof (growth_pos (alignment d) f L L0) as G0. pose proof (share_pos (out d)) as S0. pose proof (kept_pos (out d) L L0) as K0. fold g in G0.
  pose proof (bpow_gt_0 radix2 E) as B1. pose proof (bpow_ge_0 radix2 (- f)) as B2. pose proof (bpow_gt_0 radix2 e0) as B3.
  assert (EA : bp E <= A + bp e0).
  { destruct BE as [BE|BE]; [lra|]. pose proof (bpow_le radix2 _ _ BE). lra. }
  assert (BX : bp (Z.max E em) <= A + bp (Z.max e0 em)).
  { destruct (Z.max_spec E em) as [[_ ->]|[_ ->]].
    - assert (bp em <= bp (Z.max e0 em)) by (apply bpow_le; lia). lra.
    - assert (bp e0 <= bp (Z.max e0 em)) by (apply bpow_le; lia). lra. }
  assert (BM : bp M <= (1 + g) * (A + bp (Z.max e0 em))).
  { assert (Y0 : 0 <= g * (A + bp (Z.max e0 em))) by (apply Rmult_le_pos; auto; pose proof (bpow_gt_0 radix2 (Z.max e0 em)); lra).
    assert (X0 : bp (Z.max E em) <= (1 + g) * (A + bp (Z.max e0 em))) by lra.
    unfold M. destruct (Z.eqb_spec n 0) as [|n0].
    - replace (Z.max (Z.max E em) E) with (Z.max E em) by lia. exact X0.
    - destruct (Z.max_spec (Z.max E em) (Z.log2 (Z.abs n) + (E - f))) as [[_ ->]|[_ ->]]; [|exact X0].
      pose proof (count_bound d f ts E L (A + bp e0) L0 U ltac:(lra) EA Er) as CB. fold n in CB. fold g in CB.
      eapply Rle_trans; [|apply Rle_trans with ((1 + g) * (A + bp e0)); [exact CB|]].
      + pose proof (log2_mag n (E - f) n0) as Q.
        assert (X : IZR n * bp (E - f) <> 0). { pose proof (bpow_gt_0 radix2 (E - f)). intros Y. apply n0. apply eq_IZR. nra. }
        destruct (mag radix2 (IZR n * bp (E - f))) as [m Hm]. simpl in Q. subst m. specialize (Hm X).
        replace (Z.log2 (Z.abs n) + (E - f) + 1 - 1)%Z with (Z.log2 (Z.abs n) + (E - f))%Z in Hm by lia. lra.
      + apply Rmult_le_compat_l; [lra|]. assert (bp e0 <= bp (Z.max e0 em)) by (apply bpow_le; lia). lra. }
  assert (BE' : bp (E - f) <= bp (- f) * A + bp (e0 - f)).
  { replace (bp (E - f)) with (bp (- f) * bp E) by (rewrite <- bpow_plus; f_equal; lia).
    replace (bp (e0 - f)) with (bp (- f) * bp e0) by (rewrite <- bpow_plus; f_equal; lia). nra. }
  unfold kappa, eta. fold g em. pose proof (Rmult_le_compat_l _ _ _ K0 BE') as R1. pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ S0) BM) as R2.
  nra.
Qed.

(** The term with the largest exponent has a leading bit there, or an exponent of at most e0. *)
Theorem sum_absolute d f ts E e0 z L :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z -> fraction_bits d = Some f -> (p (out d) <= f)%Z ->
  largest d ts = Some E -> 0 <= L -> bp E <= magnitude ts \/ (E <= e0)%Z ->
  Rabs (IZR (zsum (counts d ts)) * bp (E - f) - exact_sum ts) <= L * bp (E - f) ->
  Rabs (V z - exact_sum ts) <= kappa d f L * magnitude ts + eta d f e0 L.
Proof. intros P T H F Pf La L0 BE Er. apply (sum_within d f ts E e0 z L (magnitude ts)); auto. apply Rle_refl. Qed.

(** Where all exponents are at most e0, zeros' among them, terms that are cut toward zero lose what does not depend on the
    magnitudes. *)
Theorem sum_tiny d f ts E e0 z L K :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z -> fraction_bits d = Some f -> (p (out d) <= f)%Z ->
  largest d ts = Some E -> (E <= e0)%Z -> alignment d = RZ -> 0 <= L -> 0 <= K ->
  Rabs (IZR (zsum (counts d ts)) * bp (E - f) - exact_sum ts) <= L * bp (E - f) ->
  Rabs (V z - exact_sum ts) <= kappa d f K * magnitude ts + eta d f e0 L.
Proof.
  intros P T H F Pf La Ee A L0 Kp Er. set (n := zsum (counts d ts)) in *.
  assert (U : unit_of d ts = (E - f)%Z) by (unfold unit_of; now rewrite F, La).
  set (em := emin (out d)) in *.
  set (M := Z.max (Z.max E em) (if (n =? 0)%Z then E else (Z.log2 (Z.abs n) + (E - f))%Z)).
  assert (LM : (n <> 0)%Z -> (Z.log2 (Z.abs n) + (E - f) <= M)%Z) by (unfold M; destruct (Z.eqb_spec n 0); lia).
  pose proof (sum_loss d f ts E z L M P T H F Pf La ltac:(lia) ltac:(unfold M, em; lia) L0 Er LM) as S.
  assert (A0 : 0 <= magnitude ts) by (apply Rsum_nonneg; intros; apply Rabs_pos).
  pose proof (share_pos (out d)) as S0. pose proof (kept_pos (out d) L L0) as K0. pose proof (kept_pos (out d) K Kp) as K1.
  pose proof (bpow_gt_0 radix2 (Z.max e0 em)) as B0. pose proof (bpow_ge_0 radix2 (- f)) as B2.
  assert (BX : bp (Z.max E em) <= bp (Z.max e0 em)) by (apply bpow_le; lia).
  assert (BM : bp M <= magnitude ts + bp (Z.max e0 em)).
  { unfold M. destruct (Z.eqb_spec n 0) as [|n0].
    - replace (Z.max (Z.max E em) E) with (Z.max E em) by lia. lra.
    - destruct (Z.max_spec (Z.max E em) (Z.log2 (Z.abs n) + (E - f))) as [[_ ->]|[_ ->]]; [|lra].
      assert (CB : Rabs (IZR n * bp (E - f)) <= magnitude ts).
      { pose proof (counts_ok d ts) as C. cbv zeta in C. rewrite U, A in C. unfold n. rewrite C. apply cut_sum_abs. }
      pose proof (log2_mag n (E - f) n0) as Q.
      assert (X : IZR n * bp (E - f) <> 0). { pose proof (bpow_gt_0 radix2 (E - f)). intros Y. apply n0. apply eq_IZR. nra. }
      destruct (mag radix2 (IZR n * bp (E - f))) as [m Hm]. simpl in Q. subst m. specialize (Hm X).
      replace (Z.log2 (Z.abs n) + (E - f) + 1 - 1)%Z with (Z.log2 (Z.abs n) + (E - f))%Z in Hm by lia. lra. }
  assert (BE : bp (E - f) <= bp (e0 - f)) by (apply bpow_le; lia).
  unfold kappa, eta. rewrite A. cbn [growth]. fold em.
  pose proof (Rmult_le_compat_l _ _ _ K0 BE). pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ S0) BM).
  pose proof (Rmult_le_pos _ _ (Rmult_le_pos _ _ K1 B2) A0). nra.
Qed.

(** * What the terms lose *)

Definition loss (m : mode) (u : Z) (x : num) : R := Rabs (fix_rnd m u (V x) - V x).

Lemma loss_pos m u x : 0 <= loss m u x.
Proof. apply Rabs_pos. Qed.

Lemma loss_zero m u x : is_zero x = true -> loss m u x = 0.
Proof.
  intros X. unfold loss. rewrite V_zero by easy. unfold fix_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. reflexivity.
Qed.

Lemma cut_losses d ts : let u := unit_of d ts in
  Rabs (IZR (zsum (counts d ts)) * bp u - exact_sum ts) <= Rsum (map (loss (alignment d) u) ts).
Proof.
  intros u. pose proof (counts_ok d ts) as K. cbv zeta in K. fold u in K. rewrite K. unfold exact_sum. clear K. clearbody u.
  induction ts as [|x r IH]; cbn; [rewrite Rminus_0_r, Rabs_R0; lra|].
  match goal with |- Rabs (?a + ?b - (?c + ?d)) <= _ => replace (a + b - (c + d)) with ((a - c) + (b - d)) by ring end.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [apply Rle_refl|exact IH].
Qed.

Lemma losses_repeat m u lam us : Forall (fun x => loss m u x <= lam * bp u) us ->
  Rsum (map (loss m u) us) <= INR (length us) * lam * bp u.
Proof.
  induction 1 as [|x r Hx H IH]; [cbn; lra|]. cbn [map Rsum fold_right length]. fold (Rsum (map (loss m u) r)). rewrite S_INR. lra.
Qed.

(** Of n products, each of which loses lam units at most, and c: the term with the largest exponent loses nothing. *)
Lemma losses_beside m u lam us x y : 0 <= lam <= 1 -> Forall (fun x => loss m u x <= lam * bp u) us -> In y (us ++ [x]) ->
  loss m u y = 0 -> Rsum (map (loss m u) (us ++ [x])) <= (lam * IZR (Z.max (Z.of_nat (length us) - 1) 0) + 1) * bp u.
Proof.
  intros La F Hy Y. rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. pose proof (bpow_gt_0 radix2 u) as B.
  assert (X : loss m u x <= bp u) by (unfold loss; pose proof (fix_rnd_err m u (V x)); lra).
  apply in_app_or in Hy. destruct Hy as [Hy|[->|[]]].
  - apply in_split in Hy. destruct Hy as [a [b ->]]. rewrite Forall_app in F. destruct F as [Fa Fb]. inversion Fb as [|? ? _ Fb']; subst.
    rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. fold (Rsum (map (loss m u) b)). rewrite Y, app_length. cbn [length].
    pose proof (losses_repeat m u lam a Fa). pose proof (losses_repeat m u lam b Fb').
    replace (Z.max (Z.of_nat (length a + S (length b)) - 1) 0) with (Z.of_nat (length a + length b)) by lia.
    rewrite <- INR_IZR_INZ, plus_INR. nra.
  - rewrite Y. pose proof (losses_repeat m u lam us F) as R. destruct us as [|z r].
    + cbn in *. nra.
    + replace (Z.max (Z.of_nat (length (z :: r)) - 1) 0) with (Z.of_nat (length r)) by (cbn [length]; lia).
      rewrite <- INR_IZR_INZ. cbn [length] in R. rewrite S_INR in R. pose proof (pos_INR (length r)). nra.
Qed.

(** The same where c is zero. *)
Lemma losses_alone m u lam us x y : 0 <= lam -> Forall (fun x => loss m u x <= lam * bp u) us -> is_zero x = true -> In y us ->
  loss m u y = 0 -> Rsum (map (loss m u) (us ++ [x])) <= (lam * IZR (Z.max (Z.of_nat (length us) - 1) 0)) * bp u.
Proof.
  intros La F X Hy Y. rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. rewrite (loss_zero m u x X).
  apply in_split in Hy. destruct Hy as [a [b ->]]. rewrite Forall_app in F. destruct F as [Fa Fb]. inversion Fb as [|? ? _ Fb']; subst.
  rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. fold (Rsum (map (loss m u) b)). rewrite Y, app_length. cbn [length].
  pose proof (losses_repeat m u lam a Fa). pose proof (losses_repeat m u lam b Fb').
  replace (Z.max (Z.of_nat (length a + S (length b)) - 1) 0) with (Z.of_nat (length a + length b)) by lia.
  rewrite <- INR_IZR_INZ, plus_INR. nra.
Qed.

(** ** Products of few bits lose less than a unit *)

(** Every product of two significands with leading bits at fa and fb, cut anywhere, loses at most lam / 2^12 units. *)
Definition few_bits (fa fb lam : Z) : bool :=
  if (0 <=? fa)%Z && (0 <=? fb)%Z && (0 <=? lam)%Z && (lam <=? 4096)%Z && (fa + fb <=? 8)%Z then
  forallb (fun i => forallb (fun j => forallb (fun k =>
    ((2 ^ fa + i) * (2 ^ fb + j) mod 2 ^ k * 4096 <=? lam * 2 ^ k)%Z)
    (map Z.of_nat (seq 1 (Z.to_nat (fa + fb + 2))))) (map Z.of_nat (seq 0 (Z.to_nat (2 ^ fb))))) (map Z.of_nat (seq 0 (Z.to_nat (2 ^ fa))))
  else false.

Lemma few_bits_ok fa fb lam s t k : few_bits fa fb lam = true ->
  (2 ^ fa <= s < 2 ^ (fa + 1))%Z -> (2 ^ fb <= t < 2 ^ (fb + 1))%Z -> (1 <= k)%Z -> ((s * t) mod 2 ^ k * 4096 <= lam * 2 ^ k)%Z.
Proof.
  unfold few_bits. intros O Hs Ht Hk. destruct (_ && _) eqn:Gd in O; [|easy]. repeat rewrite andb_true_iff in Gd. destruct Gd as [[[[A B] L0] L1] S].
  apply Z.leb_le in A, B, L0, L1, S.
  assert (Da : (2 ^ (fa + 1) = 2 * 2 ^ fa)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  assert (Db : (2 ^ (fb + 1) = 2 * 2 ^ fb)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  assert (In1 : forall a n, (0 <= a < n)%Z -> In a (map Z.of_nat (seq 0 (Z.to_nat n)))).
  { intros a n H. apply in_map_iff. exists (Z.to_nat a). split; [lia|]. apply in_seq. lia. }
  assert (G : forall k, (1 <= k <= fa + fb + 2)%Z -> ((s * t) mod 2 ^ k * 4096 <= lam * 2 ^ k)%Z).
  { intros k' Hk'. rewrite forallb_forall in O. specialize (O (s - 2 ^ fa)%Z (In1 (s - 2 ^ fa)%Z (2 ^ fa)%Z ltac:(lia))).
    rewrite forallb_forall in O. specialize (O (t - 2 ^ fb)%Z (In1 (t - 2 ^ fb)%Z (2 ^ fb)%Z ltac:(lia))).
    rewrite forallb_forall in O. specialize (O k').
    replace (2 ^ fa + (s - 2 ^ fa))%Z with s in O by lia. replace (2 ^ fb + (t - 2 ^ fb))%Z with t in O by lia.
    apply Z.leb_le. apply O. apply in_map_iff. exists (Z.to_nat k'). split; [lia|]. apply in_seq. lia. }
  destruct (Z_le_gt_dec k (fa + fb + 2)) as [h|h]; [apply G; lia|].
  set (q := (fa + fb + 2)%Z) in *. specialize (G q ltac:(unfold q; lia)).
  assert (Q : (s * t < 2 ^ q)%Z).
  { replace q with ((fa + 1) + (fb + 1))%Z by (unfold q; lia). rewrite Z.pow_add_r by lia. nia. }
  assert (Q0 : (0 <= s * t)%Z) by nia.
  assert (Pk : (2 ^ q <= 2 ^ k)%Z) by (apply Z.pow_le_mono_r; lia).
  rewrite Z.mod_small in G by lia. rewrite Z.mod_small by lia. nia.
Qed.

(** What a number loses that is cut toward zero: the bits below the unit. *)
Lemma loss_RZ u x : (0 <= sig x)%Z -> (lsb x < u)%Z -> loss RZ u x = IZR (sig x mod 2 ^ (u - lsb x)) * bp (lsb x).
Proof.
  intros S L. unfold loss. rewrite <- cut_ok. unfold cut. set (k := (u - lsb x)%Z).
  assert (P : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (D : forall s, (0 <= s)%Z -> round_div RZ s k = (s / 2 ^ k)%Z).
  { intros s Hs. rewrite round_div_unfold. destruct (Z.leb_spec k 0); [lia|]. destruct (Z.eqb_spec (s mod 2 ^ k) 0); auto.
    destruct (Z.ltb_spec s 0); lia. }
  assert (U : bp u = IZR (2 ^ k) * bp (lsb x)) by (rewrite <- bp_Z, <- bpow_plus by lia; f_equal; unfold k; lia).
  assert (X : IZR (sig x / 2 ^ k) * bp u - IZR (sig x) * bp (lsb x) = - (IZR (sig x mod 2 ^ k) * bp (lsb x))).
  { rewrite U. pose proof (Z.div_mod (sig x) (2 ^ k) ltac:(lia)) as Q. rewrite Q at 2. rewrite plus_IZR, mult_IZR. ring. }
  assert (N : 0 <= IZR (sig x mod 2 ^ k) * bp (lsb x)).
  { apply Rmult_le_pos; [|apply bpow_ge_0]. apply IZR_le. apply Z.mod_pos_bound. lia. }
  unfold V, signed. destruct (neg x).
  - rewrite round_div_RZ_opp, D, !opp_IZR by lia.
    replace (- IZR (sig x / 2 ^ k) * bp u - - IZR (sig x) * bp (lsb x)) with (- (IZR (sig x / 2 ^ k) * bp u - IZR (sig x) * bp (lsb x))) by ring.
    rewrite X, Ropp_involutive. now apply Rabs_pos_eq.
  - rewrite D, X, Rabs_Ropp by lia. now apply Rabs_pos_eq.
Qed.

(** A product whose factors have leading bits, or 0. *)
Definition two_leading (fa fb : Z) (x : num) : Prop :=
  sig x = 0%Z \/ exists s t, sig x = (s * t)%Z /\ (2 ^ fa <= s < 2 ^ (fa + 1))%Z /\ (2 ^ fb <= t < 2 ^ (fb + 1))%Z.

Lemma few_loss u fa fb lam x : few_bits fa fb lam = true -> two_leading fa fb x -> loss RZ u x <= IZR lam * / 4096 * bp u.
Proof.
  intros O T. assert (F : few_bits fa fb lam = true) by auto.
  unfold few_bits in F. destruct (_ && _) eqn:Gd in F; [|easy]. repeat rewrite andb_true_iff in Gd. destruct Gd as [[[[A B] L0] L1] _]. apply Z.leb_le in A, B, L0.
  assert (R : 0 <= IZR lam * / 4096 * bp u).
  { apply Rmult_le_pos; [|apply bpow_ge_0]. apply Rmult_le_pos; [now apply IZR_le|lra]. }
  destruct T as [T|[s [t [E [Hs Ht]]]]].
  - unfold loss. rewrite V_zero by (unfold is_zero; now apply Z.eqb_eq). unfold fix_rnd.
    rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. exact R.
  - destruct (Z_le_gt_dec u (lsb x)) as [h|h].
    + unfold loss. rewrite fix_rnd_exact by auto. rewrite Rminus_eq_0, Rabs_R0. exact R.
    + assert (0 < 2 ^ fa)%Z by (apply Z.pow_pos_nonneg; lia). assert (0 < 2 ^ fb)%Z by (apply Z.pow_pos_nonneg; lia).
      rewrite loss_RZ by nia. set (k := (u - lsb x)%Z).
      pose proof (few_bits_ok fa fb lam s t k O Hs Ht ltac:(unfold k; lia)) as Q. rewrite <- E in Q. apply IZR_le in Q.
      rewrite !mult_IZR in Q. assert (U : bp u = IZR (2 ^ k) * bp (lsb x)) by (rewrite <- bp_Z, <- bpow_plus by (unfold k; lia); f_equal; unfold k; lia).
      rewrite U. pose proof (bpow_gt_0 radix2 (lsb x)) as B0. nra.
Qed.

(** * Exact sums that are rounded, flushing included *)

Definition flush_loss (c : conversion) : R := if flushes c then bp (emin c) else share c * bp (emin c).

Lemma flush_loss_pos c : 0 <= flush_loss c.
Proof. unfold flush_loss. pose proof (bpow_ge_0 radix2 (emin c)). pose proof (share_pos c). destruct (flushes c); nra. Qed.

Lemma rounding_ulp c x : (0 <= p c)%Z -> x <> 0 -> Rabs (flt_rnd c x - x) <= share c * bp (cexp radix2 (flt c) x + p c).
Proof.
  intros P X. pose proof (flt_valid c P) as FV. unfold share. destruct (nearest (rho c)) eqn:N.
  - assert (E : Rabs (flt_rnd c x - x) <= / 2 * ulp radix2 (flt c) x).
    { unfold flt_rnd. destruct (rho c); try easy; simpl rnd; now apply error_le_half_ulp. }
    rewrite ulp_neq_0 in E by easy. rewrite <- bpow_plus. replace (- p c - 1 + (cexp radix2 (flt c) x + p c))%Z with (-1 + cexp radix2 (flt c) x)%Z by lia.
    rewrite bpow_plus. replace (bp (-1)) with (/ 2) by (simpl; lra). exact E.
  - assert (E : Rabs (flt_rnd c x - x) < ulp radix2 (flt c) x) by (unfold flt_rnd; apply error_lt_ulp; auto with typeclass_instances).
    rewrite ulp_neq_0 in E by easy. rewrite <- bpow_plus. replace (- p c + (cexp radix2 (flt c) x + p c))%Z with (cexp radix2 (flt c) x) by lia. lra.
Qed.

Lemma rounding_loss c x : (0 <= p c)%Z -> Rabs (flt_rnd c x - x) <= share c * Rabs x + share c * bp (emin c).
Proof.
  intros P. pose proof (flt_valid c P) as FV. pose proof (share_pos c) as S0. pose proof (bpow_gt_0 radix2 (emin c)) as B0.
  destruct (Req_dec x 0) as [->|X].
  { unfold flt_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. nra. }
  eapply Rle_trans; [now apply rounding_ulp|]. rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [lra|].
  unfold cexp, flt, FLT_exp. destruct (mag radix2 x) as [m Hm]. simpl. specialize (Hm X). pose proof (Rabs_pos x).
  destruct (Z.max_spec (m - (p c + 1)) (emin c - p c)) as [[_ ->]|[_ ->]].
  - replace (emin c - p c + p c)%Z with (emin c) by lia. lra.
  - replace (m - (p c + 1) + p c)%Z with (m - 1)%Z by lia. lra.
Qed.

Lemma vanishes_below c x : (0 <= p c)%Z -> vanishes c x = true -> Rabs x <= bp (emin c).
Proof.
  intros P Va. pose proof (flt_valid c P) as FV. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  destruct (Rle_or_lt (Rabs x) (bp (emin c))) as [h|h]; auto. exfalso. unfold vanishes in Va. apply orb_prop in Va. destruct Va as [Va|Va].
  - revert Va. rewrite Rlt_bool_false; [easy|]. unfold flt_rnd, flt. apply abs_round_ge_generic; auto with typeclass_instances; [|lra].
    apply generic_format_FLT_bpow; auto. lia.
  - apply andb_prop in Va. destruct Va as [_ Va]. revert Va. rewrite Rlt_bool_false; [easy|]. unfold flx_rnd.
    apply abs_round_ge_generic; auto with typeclass_instances; [|lra]. apply generic_format_bpow. unfold FLX_exp. lia.
Qed.

Theorem flushed_loss c x : (0 <= p c)%Z -> Rabs (flushed_rnd c x - x) <= share c * Rabs x + flush_loss c.
Proof.
  intros P. pose proof (rounding_loss c x P) as R. pose proof (share_pos c) as S0. pose proof (bpow_gt_0 radix2 (emin c)) as B0.
  pose proof (Rabs_pos x) as X0. unfold flushed_rnd, flush_loss.
  destruct (flushes c) eqn:F; cbn [andb]; [|exact R]. destruct (vanishes c x) eqn:Va.
  - replace (0 - x) with (- x) by ring. rewrite Rabs_Ropp. pose proof (vanishes_below c x P Va). nra.
  - assert (S1 : share c <= 1).
    { unfold share. change 1 with (bp 0). destruct (nearest _); apply bpow_le; lia. }
    nra.
Qed.

(** A number of few bits is rounded only beside subnormal results. *)
Theorem short_loss c x : (0 <= p c)%Z -> generic_format radix2 (FLX_exp (p c + 1)) x -> Rabs (flushed_rnd c x - x) <= flush_loss c.
Proof.
  intros P G. pose proof (flt_valid c P) as FV. pose proof (share_pos c) as S0. pose proof (bpow_gt_0 radix2 (emin c)) as B0.
  assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  destruct (Rle_or_lt (bp (emin c)) (Rabs x)) as [L|L].
  - assert (F : flt_rnd c x = x).
    { unfold flt_rnd. apply round_generic; auto with typeclass_instances. eapply generic_inclusion_mag; [|exact G]. intros X.
      unfold flt, FLT_exp, FLX_exp. pose proof (mag_ge_bpow radix2 x (emin c + 1)) as M. replace (emin c + 1 - 1)%Z with (emin c) in M by lia. specialize (M L). lia. }
    assert (Fx : flx_rnd c x = x) by (unfold flx_rnd; apply round_generic; auto with typeclass_instances).
    unfold flushed_rnd, vanishes. rewrite F, Fx, Rlt_bool_false by exact L. rewrite andb_false_r. cbn [orb]. rewrite andb_false_r.
    rewrite Rminus_eq_0, Rabs_R0. apply flush_loss_pos.
  - assert (R : Rabs (flt_rnd c x - x) <= share c * bp (emin c)).
    { destruct (Req_dec x 0) as [->|X].
      - unfold flt_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. nra.
      - pose proof (rounding_ulp c x P X) as U. replace (cexp radix2 (flt c) x + p c)%Z with (emin c) in U; [exact U|].
        unfold cexp, flt, FLT_exp. pose proof (mag_le_bpow radix2 x (emin c) X L). lia. }
    assert (S1 : share c <= 1) by (unfold share; change 1 with (bp 0); destruct (nearest _); apply bpow_le; lia).
    unfold flushed_rnd, flush_loss. destruct (flushes c); cbn [andb]; [|exact R]. destruct (vanishes c x).
    + replace (0 - x) with (- x) by ring. rewrite Rabs_Ropp. lra.
    + nra.
Qed.

Theorem exact_node_loss d ts z : exact_node d = true -> sum_numbers d ts = Num z ->
  Rabs (V z - exact_sum ts) <= share (out d) * magnitude ts + flush_loss (out d).
Proof.
  intros X H. rewrite (exact_node_value _ _ _ X H).
  assert (P : (0 <= p (out d))%Z).
  { unfold exact_node, monotone_conv in X. destruct (fraction_bits d), (carry_bits d); try easy. apply andb_prop in X. lia. }
  eapply Rle_trans; [apply flushed_loss; auto|]. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [pose proof (share_pos (out d)); lra|].
  apply exact_sum_abs.
Qed.
