(** The error of sticky sums of one block from c = 0, whose zeros count as ones with an exponent below all others. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Losses Accumulated Trees FromZero Growth Groups Calls.
Import ListNotations.
Open Scope R_scope.

(** * The sum *)

Lemma cut_total m u ts : IZR (zsum (map (cut m u) ts)) * bp u = Rsum (map (fun x => fix_rnd m u (V x)) ts).
Proof.
  induction ts as [|x r IH]; cbn [map]; [cbn; ring|]. change (zsum (?a :: ?l)) with (a + zsum l)%Z. now rewrite Rsum_cons, plus_IZR, Rmult_plus_distr_r, IH, cut_ok.
Qed.

(** What a sticky sum rounds: the cut terms, and a bit far below their unit where one of them lost something. *)
Lemma sticky_value s f ts E z : fraction_bits s = Some f -> alignment s = RZ -> monotone_conv (out s) = true -> largest s ts = Some E ->
  match carry_bits s with Some k => (0 <= f + 1 + k)%Z /\ magnitude ts < bp (E + 1 + k) | None => True end ->
  sticky_sum s ts = Num z ->
  let S := Rsum (map (fun x => fix_rnd RZ (E - f) (V x)) ts) in
  exists S', V z = flushed_rnd (out s) S' /\ Rabs (S' - S) <= bp (E - f - p (out s) - 2).
Proof.
  intros F A Mc La C H S. unfold sticky_sum in H. assert (U : unit_of s ts = (E - f)%Z) by (unfold unit_of; now rewrite F, La). rewrite U, A in H. cbv zeta in H.
  set (u := (E - f)%Z) in *. set (n0 := zsum (map (cut RZ u) ts)) in *. pose proof (cut_total RZ u ts) as Q. fold n0 S in Q.
  assert (Hn : held s n0 = n0 /\ match carry_bits s with Some k => (n0 <> - 2 ^ (f + 1 + k))%Z | None => True end).
  { unfold held. destruct (carry_bits s) as [k|]; [|auto]. rewrite F. destruct C as [C0 C1]. pose proof (cut_sum_abs u ts) as L. fold S in L. rewrite <- Q, Rabs_mult, (Rabs_pos_eq (bp u)), <- abs_IZR in L by apply bpow_ge_0.
    assert (B : (Z.abs n0 < 2 ^ (f + 1 + k))%Z).
    { apply lt_IZR. apply Rmult_lt_reg_r with (bp u); [apply bpow_gt_0|]. rewrite <- bp_Z, <- bpow_plus by exact C0. replace (f + 1 + k + u)%Z with (E + 1 + k)%Z by (unfold u; lia). lra. }
    split; [|lia]. apply wrap_small; [lia|]. replace (1 + (f + 1 + k) - 1)%Z with (f + 1 + k)%Z by lia. lia. }
  destruct Hn as [Hn Lw]. rewrite Hn, F, La in H.
  assert (Lo : match carry_bits s with Some k => (n0 =? - 2 ^ (f + 1 + k))%Z | None => false end = false) by (destruct (carry_bits s); auto; now apply Z.eqb_neq).
  set (low := (p (out s) + 1 + deciding_bits (rho (out s)))%Z) in *. assert (LB : (p (out s) + 2 <= low)%Z) by (pose proof (deciding_some (rho (out s))); unfold low; lia).
  assert (H' : (if existsb (fun x => negb (cut RZ u x * 2 ^ Z.max 0 (u - lsb x) =? signed x * 2 ^ Z.max 0 (lsb x - u))%Z) ts && negb (n0 =? 0)%Z
    then convert (out s) (sign_of (rho (out s)) n0 ts (map (cut RZ u) ts)) (n0 * 2 ^ low + Z.sgn n0) (u - low)
    else convert (out s) (sign_of (rho (out s)) n0 ts (map (cut RZ u) ts)) n0 u) = Num z).
  { destruct (carry_bits s) as [k|]; [|exact H]. rewrite Lo in H. exact H. }
  clear H. assert (P : (0 <= p (out s))%Z) by (unfold monotone_conv in Mc; apply andb_prop in Mc; lia).
  match type of H' with (if ?b then _ else _) = _ => destruct b end; pose proof (convert_num_flushed _ _ _ _ _ Mc H') as Vz.
  - eexists. split; [exact Vz|]. rewrite <- Q, plus_IZR, mult_IZR, <- (bp_Z low) by lia.
    replace ((IZR n0 * bp low + IZR (Z.sgn n0)) * bp (u - low) - IZR n0 * bp u) with (IZR (Z.sgn n0) * bp (u - low)).
    + rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. assert (bp (u - low) <= bp (u - p (out s) - 2)) by (apply bpow_le; lia).
      pose proof (bpow_ge_0 radix2 (u - low)). assert (Rabs (IZR (Z.sgn n0)) <= 1) by (rewrite <- abs_IZR; apply IZR_le; destruct n0; cbn; lia).
      apply Rle_trans with (1 * bp (u - low)); [now apply Rmult_le_compat_r|lra].
    + rewrite Rmult_plus_distr_r, Rmult_assoc, <- bpow_plus. replace (low + (u - low))%Z with u by lia. ring.
  - exists (IZR n0 * bp u). split; [exact Vz|]. rewrite Q, Rminus_eq_0, Rabs_R0. apply bpow_ge_0.
Qed.

Lemma truncated_loss u x : Rabs (fix_rnd RZ u x - x) <= Rabs x.
Proof.
  pose proof (truncated_term u x) as T. destruct (Rle_or_lt 0 x) as [h|h].
  - assert (Q : 0 <= fix_rnd RZ u x) by (unfold fix_rnd; apply round_ge_generic; auto with typeclass_instances; apply generic_format_0).
    rewrite (Rabs_pos_eq x), (Rabs_pos_eq (fix_rnd RZ u x)) in T by lra. rewrite (Rabs_pos_eq x) by lra. apply Rabs_le. lra.
  - assert (Q : fix_rnd RZ u x <= 0) by (unfold fix_rnd; apply round_le_generic; auto with typeclass_instances; [apply generic_format_0|lra]).
    rewrite (Rabs_left1 x), (Rabs_left1 (fix_rnd RZ u x)) in T by lra. rewrite (Rabs_left1 x) by lra. apply Rabs_le. lra.
Qed.

(** Units that n products lose, in 4096ths, with what is sticky. *)
Definition sticky_units (n : Z) : Z := (4096 * (n - 1) + 1)%Z.

(** The error of n products and a c of at most 2^r, all of which have leading bits, to nearest. *)
Theorem sticky_loss s f us x z r n : fraction_bits s = Some f -> alignment s = RZ -> normalise s = false -> monotone_conv (out s) = true ->
  nearest (rho (out s)) = true -> (0 <= f)%Z -> (11 <= p (out s))%Z -> (1 <= n)%Z -> (Z.of_nat (length us) <= n)%Z ->
  Forall (fun y => settled f y /\ is_zero y = false /\ bp (exp y) <= Rabs (V y)) (us ++ [x]) -> Rabs (V x) <= bp r -> exp x = r ->
  match carry_bits s with Some k => (0 <= f + 1 + k)%Z /\ forall E, largest s (us ++ [x]) = Some E -> magnitude (us ++ [x]) < bp (E + 1 + k) | None => True end ->
  sticky_sum s (us ++ [x]) = Num z ->
  Rabs (V z - exact_sum (us ++ [x])) <= kappa s f (IZR (sticky_units n) * / 4096) * magnitude (us ++ [x]) + (flush_loss (out s) + IZR n * bp r).
Proof.
  intros F A Nn Mc Ne F0 P11 N1 Ln Ft Vx Ex C H. set (ts := us ++ [x]) in *. assert (P : (0 <= p (out s))%Z) by lia.
  assert (Nx : exists E, largest s ts = Some E).
  { destruct (largest s ts) as [E|] eqn:Q; [eauto|]. pose proof (largest_in s ts x ltac:(apply in_or_app; right; now left)) as I. rewrite Q in I. unfold term_exponent in I.
    rewrite Forall_forall in Ft. destruct (Ft x ltac:(apply in_or_app; right; now left)) as [_ [Zx _]]. rewrite Zx in I. easy. }
  destruct Nx as [E La]. destruct (largest_attained s ts E La) as [y [Hy Ey]]. rewrite Forall_forall in Ft. destruct (Ft y Hy) as [Sy [Zy By]].
  unfold term_exponent in Ey. rewrite Zy, Nn in Ey. injection Ey as Ey.
  destruct (sticky_value s f ts E z F A Mc La) as [S' [Vz D]]; auto. { destruct (carry_bits s); auto. destruct C as [C0 C1]. auto. }
  set (S := Rsum (map (fun x => fix_rnd RZ (E - f) (V x)) ts)) in *. set (Mg := magnitude ts) in *.
  assert (BE : bp E <= Mg) by (rewrite <- Ey; eapply Rle_trans; [exact By|now apply magnitude_in]).
  pose proof (cut_sum_abs (E - f) ts) as SM. fold S Mg in SM.
  (* what cutting loses *)
  assert (Ly : loss RZ (E - f) y = 0) by (rewrite <- Ey; now apply settled_loss).
  assert (One : forall q, loss RZ (E - f) q <= 1 * bp (E - f)) by (intros q; apply lossy_whole).
  assert (n0 : 1 <= IZR n) by (apply IZR_le; lia). pose proof (bpow_gt_0 radix2 (E - f)) as B0. pose proof (bpow_gt_0 radix2 r) as R0.
  assert (Lo : Rsum (map (loss RZ (E - f)) ts) <= (IZR n - 1) * bp (E - f) + IZR n * bp r).
  { unfold ts. rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. rewrite Rplus_0_r. apply in_app_or in Hy. destruct Hy as [Hy|[Hy|[]]].
    - assert (Lx : loss RZ (E - f) x <= bp r) by (unfold loss; pose proof (truncated_loss (E - f) (V x)); lra).
      pose proof (losses_alone RZ (E - f) 1 us (zero_at 0) y ltac:(lra) (proj2 (Forall_forall _ us) (fun q _ => One q)) eq_refl Hy Ly) as L.
      rewrite map_app, Rsum_app in L. cbn [map Rsum fold_right] in L. rewrite (loss_zero _ _ (zero_at 0)), !Rplus_0_r, Rmult_1_l in L by reflexivity.
      assert (Ln' : IZR (Z.max (Z.of_nat (length us) - 1) 0) <= IZR n - 1) by (rewrite <- minus_IZR; apply IZR_le; lia).
      pose proof (Rmult_le_compat_r (bp (E - f)) _ _ (Rlt_le _ _ B0) Ln'). nra.
    - subst y. rewrite Ly, Rplus_0_r. pose proof (losses_repeat RZ (E - f) 1 us (proj2 (Forall_forall _ us) (fun q _ => One q))) as L.
      assert (L1 : INR (length us) <= IZR n) by (rewrite INR_IZR_INZ; apply IZR_le; lia).
      assert (Br : bp (E - f) <= bp r) by (apply bpow_le; lia). pose proof (pos_INR (length us)). nra. }
  assert (ST : Rabs (S - exact_sum ts) <= (IZR n - 1) * bp (E - f) + IZR n * bp r).
  { eapply Rle_trans; [|exact Lo]. pose proof (cut_losses_at RZ (E - f) ts) as CL. rewrite cut_total in CL. exact CL. }
  pose proof (flushed_loss (out s) S' P) as FL. rewrite <- Vz in FL. pose proof (share_pos (out s)) as S0.
  assert (S1 : share (out s) <= 1) by (unfold share; change 1 with (bp 0); destruct (nearest _); apply bpow_le; lia).
  assert (D' : bp (E - f - p (out s) - 2) <= bp (E - f) * / 8192).
  { replace (/ 8192) with (bp (-13)) by (cbn; lra). rewrite <- bpow_plus. apply bpow_le. lia. }
  assert (K : kappa s f (IZR (sticky_units n) * / 4096) = (IZR n - 1 + / 4096) * bp (- f) + share (out s)).
  { unfold kappa, kept. rewrite Ne, A. cbn [growth]. unfold sticky_units. rewrite plus_IZR, mult_IZR, minus_IZR. lra. }
  assert (BE' : bp (E - f) <= bp (- f) * Mg).
  { replace (bp (E - f)) with (bp (- f) * bp E) by (rewrite <- bpow_plus; f_equal; lia). apply Rmult_le_compat_l; auto. apply bpow_ge_0. }
  assert (Q1 : Rabs S' <= Mg + bp (E - f) * / 8192).
  { replace S' with ((S' - S) + S) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  rewrite K. replace (V z - exact_sum ts) with ((V z - S') + ((S' - S) + (S - exact_sum ts))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (S' - S) (S - exact_sum ts)) as T.
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ S0) Q1) as Q2. pose proof (Rmult_le_compat_r (bp (E - f) * / 8192) _ _ ltac:(lra) S1) as Q3.
  pose proof (Rmult_le_compat_l (IZR n - 1 + / 4096) _ _ ltac:(lra) BE') as Q4. lra.
Qed.

(** * Designs *)

(** The same design whose zeros are zeros: its products are the exact ones. *)
Definition plain_zeros (d : design) : design :=
  let q := factors d in
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d; converted := converted d;
     factors := {| of_a := of_a q; of_b := of_b q; normalise_factors := normalise_factors q; exponent_step := exponent_step q; zero_terms := None;
       odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := product_rounding q |};
     cutting_of := cutting_of d; block := block d; odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := sums d;
     nan_word := nan_word d; nans := nans d; composed := composed d |}.

(** The register holds products beside a c that is zero, and zeros alone. *)
Definition sticky_carry (s : sum) (t : facts) (ze n : Z) : bool :=
  match carry_bits s, fraction_bits s with
  | Some k, Some f => let g := Z.max (bits t) (low t - ze) in
      (0 <=? k)%Z && (n * most t * 2 ^ (g - bits t) + 2 ^ (g - (low t - ze)) <? 2 ^ (g + 1 + k))%Z && (n + 1 <=? 2 ^ k)%Z
  | _, _ => true
  end.

Definition sticky_ok (d : design) (f : Z) : bool :=
  match sums d, zero_terms (factors d), term_facts (plain_zeros d) with
  | StickySum s, Some ze, Some t =>
      match fraction_bits s with Some g => (g =? f)%Z | None => false end && match alignment s with RZ => true | _ => false end && negb (normalise s) &&
      monotone_conv (out s) && nearest (rho (out s)) && (0 <=? f)%Z && (11 <=? p (out s))%Z && sticky_carry s t ze (Z.of_nat (block d)) &&
      (0 <=? bits t)%Z && (bits t <=? f)%Z && (ze <? low t)%Z && (2 ^ bits t <=? most t)%Z && format_ok (c_format d) && (fbits (c_format d) <=? f)%Z &&
      (0 <? block d)%nat && match scales d, converted d, composed d, cutting_of d with None, None, None, Whole => true | _, _, _, _ => false end &&
      match product_limit (factors d) with None => true | _ => false end && negb (odd_negated (factors d)) && negb (even_negated (factors d)) &&
      negb (odd_first d) && negb (skips d)
  | _, _, _ => false
  end.

Lemma V_parts x : Rabs (V x) = Rabs (IZR (sig x)) * bp (- frac x) * bp (exp x).
Proof. rewrite V_abs, Rmult_assoc, <- bpow_plus. do 2 f_equal. unfold lsb. lia. Qed.

Lemma factor_frac q r f w x : format_ok f = true -> kept_or_zero r = true -> factor q r (decode f w) = Num x -> frac x = fbits f.
Proof.
  intros O K H. assert (F : forall y, flush r (decode f w) = Num y -> frac y = fbits f).
  { intros y Hy. destruct (decode f w) as [v| |] eqn:D; try easy. destruct (decode_num _ _ _ O D) as [_ [Q _]]. unfold flush in Hy.
    destruct (negb (is_subnormal v)); [injection Hy as <-; exact Q|]. destruct r; try easy; injection Hy as <-; exact Q. }
  unfold factor in H. destruct (normalise_factors q); [|now apply F]. destruct (flush r (decode f w)) as [y| |]; try easy. injection H as <-.
  unfold normalised. destruct (is_subnormal y); cbn; now apply F.
Qed.

Lemma bp_frac k : (0 <= k)%Z -> IZR (2 ^ k) * bp (- k) = 1.
Proof. intros K. rewrite <- bp_Z, <- bpow_plus by exact K. replace (k + - k)%Z with 0%Z by lia. reflexivity. Qed.

(** A factor that is a one where it is zero: its significand lies in [1, 2), and is 1 then. *)
Lemma one_significand t x : bits t = frac x -> most t = (2 ^ (bits t + 1) - 1)%Z -> (0 <= frac x)%Z -> has t x -> leading x ->
  let s := Rabs (IZR (sig (as_one x))) * bp (- frac (as_one x)) in 1 <= s < 2 /\ (is_zero x = true -> s = 1).
Proof.
  intros B M F [[P A] _] Le. unfold as_one. destruct (is_zero x) eqn:Z; cbn [sig frac].
  - assert (Rabs (IZR (2 ^ frac x)) = IZR (2 ^ frac x)) as -> by (apply Rabs_pos_eq, IZR_le, Z.pow_nonneg; lia). rewrite (bp_frac _ F). split; [lra|auto].
  - split; [|congruence]. unfold is_zero in Z. apply Z.eqb_neq in Z. destruct Le as [Le|Le]; [lia|]. rewrite <- abs_IZR, Z.abs_eq by lia.
    rewrite B, M, Z.sub_diag, Z.mul_1_r in A. pose proof (bpow_gt_0 radix2 (- frac x)) as B0. split.
    + rewrite <- (bp_frac _ F). apply Rmult_le_compat_r; [lra|]. now apply IZR_le.
    + replace 2 with (IZR (2 ^ (frac x + 1)) * bp (- frac x)).
      * apply Rmult_lt_compat_r; [exact B0|]. apply IZR_lt. rewrite B in A. lia.
      * rewrite <- bp_Z, <- bpow_plus by lia. replace (frac x + 1 + - frac x)%Z with 1%Z by lia. cbn. lra.
Qed.

Section Designs.
Variables (d : design) (s : sum) (f ze : Z) (t : facts).
Hypothesis (Sd : sums d = StickySum s) (Zd : zero_terms (factors d) = Some ze) (Td : term_facts (plain_zeros d) = Some t) (O : sticky_ok d f = true).
Let n := Z.of_nat (block d).

Lemma sticky_parts : fraction_bits s = Some f /\ alignment s = RZ /\ normalise s = false /\ monotone_conv (out s) = true /\ nearest (rho (out s)) = true /\
  (0 <= f)%Z /\ (11 <= p (out s))%Z /\ sticky_carry s t ze n = true /\ (0 <= bits t <= f)%Z /\ (ze < low t)%Z /\ (2 ^ bits t <= most t)%Z /\
  format_ok (c_format d) = true /\ (fbits (c_format d) <= f)%Z /\ (1 <= n)%Z /\ scales d = None /\ converted d = None /\ composed d = None /\
  cutting_of d = Whole /\ product_limit (factors d) = None /\ odd_negated (factors d) = false /\ even_negated (factors d) = false /\ odd_first d = false /\ skips d = false.
Proof.
  pose proof O as Q. unfold sticky_ok in Q. rewrite Sd, Zd, Td in Q. repeat rewrite andb_true_iff in Q.
  destruct Q as [[[[[[[[[[[[[[[[[[[[Q1 Q2] Q3] Q4] Q5] Q6] Q7] Q8] Q9] Q10] Q11] Q12] Q13] Q14] Q15] Q16] Q17] Q18] Q19] Q20] Q21].
  destruct (fraction_bits s) as [g|]; [|easy]. apply Z.eqb_eq in Q1. subst g. destruct (alignment s); try easy. apply negb_true_iff in Q3, Q18, Q19, Q20, Q21.
  apply Z.leb_le in Q6, Q7, Q9, Q10, Q12, Q14. apply Z.ltb_lt in Q11. apply Nat.ltb_lt in Q15.
  destruct (scales d); [easy|]. destruct (converted d); [easy|]. destruct (composed d); [easy|]. destruct (cutting_of d); try easy. destruct (product_limit (factors d)); [easy|].
  assert (1 <= n)%Z by (unfold n; lia). repeat split; auto.
Qed.

Lemma sticky_rounding : product_rounding (factors d) = None /\ kept_or_zero (of_a (factors d)) = true /\ kept_or_zero (of_b (factors d)) = true /\
  exponent_step (factors d) = 1%Z /\ format_ok (a_format d) = true /\ format_ok (b_format d) = true /\
  t = facts_times (factor_facts (plain_zeros d) (a_format d)) (factor_facts (plain_zeros d) (b_format d)).
Proof.
  destruct sticky_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [Sc [Cv _]]]]]]]]]]]]]]]].
  pose proof Td as T. unfold term_facts in T. cbn [factors plain_zeros a_format b_format scales of_a of_b exponent_step zero_terms product_rounding] in T. rewrite Sc in T.
  destruct (_ && _) eqn:G in T; [|easy]. repeat rewrite andb_true_iff in G. destruct G as [[[[[Oa Ob] Ka] Kb] St] R]. injection T as <-.
  unfold operand_ok in Oa, Ob. cbn [converted plain_zeros] in Oa, Ob. apply andb_prop in Oa, Ob. apply Z.eqb_eq in St.
  destruct (product_rounding (factors d)); [easy|]. repeat split; auto; tauto.
Qed.

Lemma term_zero e : made_by d e -> term (plain_zeros d) e = product (a_of d e) (b_of d e) /\
  term d e = zero_as (Some ze) (times (as_one (num_of (a_of d e))) (as_one (num_of (b_of d e)))) (product (a_of d e) (b_of d e)).
Proof.
  intros M. destruct sticky_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [Sc [Cv [_ [_ [Pl [On [En _]]]]]]]]]]]]]]]]]]]]].
  destruct sticky_rounding as [Pr _]. unfold made_by in M. rewrite Sc in M. unfold term. rewrite M. unfold scaled_product.
  cbn [factors plain_zeros zero_terms product_limit product_rounding subtracted odd_negated even_negated]. unfold subtracted. cbn [odd_negated even_negated].
  rewrite Zd, Pl, Pr, On, En. change (a_of (plain_zeros d) e) with (a_of d e). change (b_of (plain_zeros d) e) with (b_of d e).
  destruct (Z.odd (index e)); cbn [fold_left]; cbv zeta; rewrite zero_as_none; (split; [destruct (product _ _)|destruct (zero_as _ _ _)]; reflexivity).
Qed.

(** A term: a product that is not zero, or a number in [2^ze, 2^(ze + 1)) for one that is. *)
Lemma sticky_term e y : made_by d e -> leading_element d e -> term d e = Num y ->
  settled f y /\ is_zero y = false /\ bp (exp y) <= Rabs (V y) /\
  (term (plain_zeros d) e = Num y /\ has t y \/
   term_value (plain_zeros d) e = 0 /\ exp y = ze /\ Rabs (V y) <= bp (ze + 1)).
Proof.
  intros M Le Ty. destruct (term_zero e M) as [T0 T1]. rewrite T1 in Ty.
  destruct sticky_parts as [_ [_ [_ [_ [_ [_ [_ [_ [[B0 Bf] [_ [_ [_ [_ [_ [Sc [Cv _]]]]]]]]]]]]]]]]. destruct sticky_rounding as [Pr [Ka [Kb [St [Oa [Ob Et]]]]]].
  destruct (product (a_of d e) (b_of d e)) as [y0| |] eqn:P; try easy. cbn [zero_as] in Ty.
  assert (M0 : made_by (plain_zeros d) e) by (unfold made_by in *; cbn [scales plain_zeros]; exact M).
  assert (L0 : leading_element (plain_zeros d) e) by exact Le.
  destruct (is_zero y0) eqn:Z0; injection Ty as <-.
  - apply product_num in P. destruct P as [a [b [Ea [Eb ->]]]]. rewrite Ea, Eb. cbn [num_of].
    assert (Oa' : operand_ok (plain_zeros d) (a_format d) = true) by (unfold operand_ok; cbn [converted plain_zeros]; now rewrite Cv, Oa).
    assert (Ob' : operand_ok (plain_zeros d) (b_format d) = true) by (unfold operand_ok; cbn [converted plain_zeros]; now rewrite Cv, Ob).
    assert (Ha : has (factor_facts (plain_zeros d) (a_format d)) a) by (apply (operand_factor_has (plain_zeros d) (of_a (factors d)) (a_format d) (a_word e) Oa' Ka St a Ea)).
    assert (Hb : has (factor_facts (plain_zeros d) (b_format d)) b) by (apply (operand_factor_has (plain_zeros d) (of_b (factors d)) (b_format d) (b_word e) Ob' Kb St b Eb)).
    assert (Fa : frac a = fbits (a_format d)).
    { unfold a_of, operand in Ea. rewrite Cv, St in Ea. exact (factor_frac _ _ _ _ _ Oa Ka Ea). }
    assert (Fb : frac b = fbits (b_format d)).
    { unfold b_of, operand in Eb. rewrite Cv, St in Eb. exact (factor_frac _ _ _ _ _ Ob Kb Eb). }
    pose proof (format_bits _ Oa) as Pa. pose proof (format_bits _ Ob) as Pb. destruct Le as [La [Lb _]].
    destruct (one_significand (factor_facts (plain_zeros d) (a_format d)) a) as [S1 S1']; auto; try (cbn; lia).
    destruct (one_significand (factor_facts (plain_zeros d) (b_format d)) b) as [S2 S2']; auto; try (cbn; lia).
    set (y := with_exponent ze (times (as_one a) (as_one b))).
    assert (As : forall q, frac (as_one q) = frac q) by (intros q; unfold as_one; destruct (is_zero q); reflexivity).
    assert (Vy : Rabs (V y) = (Rabs (IZR (sig (as_one a))) * bp (- frac (as_one a))) * (Rabs (IZR (sig (as_one b))) * bp (- frac (as_one b))) * bp ze).
    { rewrite V_parts. unfold y, with_exponent, times. cbn [sig frac exp]. rewrite mult_IZR, Rabs_mult.
      replace (- (frac (as_one a) + frac (as_one b)))%Z with (- frac (as_one a) + - frac (as_one b))%Z by lia. rewrite bpow_plus. ring. }
    set (sa := Rabs (IZR (sig (as_one a))) * bp (- frac (as_one a))) in *. set (sb := Rabs (IZR (sig (as_one b))) * bp (- frac (as_one b))) in *.
    assert (One : sa = 1 \/ sb = 1).
    { unfold is_zero in Z0. cbn [times sig] in Z0. apply Z.eqb_eq in Z0. apply Z.mul_eq_0 in Z0.
      destruct Z0 as [Q|Q]; [left; apply S1'|right; apply S2']; unfold is_zero; now apply Z.eqb_eq. }
    assert (Pr1 : 1 <= sa * sb < 2) by (destruct One as [-> | ->]; lra). pose proof (bpow_gt_0 radix2 ze) as B.
    assert (Lo : bp ze <= Rabs (V y)) by (rewrite Vy; nra).
    split; [|split; [|split]].
    + apply short_settled. unfold y, with_exponent, times. cbn [frac]. rewrite !As, Fa, Fb.
      assert (bits t = fbits (a_format d) + fbits (b_format d))%Z by (rewrite Et; reflexivity). lia.
    + destruct (is_zero y) eqn:Q; auto. rewrite (V_zero y Q), Rabs_R0 in Lo. lra.
    + exact Lo.
    + right. split; [|split; [reflexivity|]].
      * unfold term_value. rewrite T0. cbn [num_of]. now apply V_zero.
      * rewrite Vy, bpow_plus. change (bp 1) with 2. nra.
  - pose proof (scaled_has (plain_zeros d) t e Td M0 y0 T0) as Hy.
    destruct (term_fit (plain_zeros d) t f (low t) 4096 RZ e Td M0 L0 Bf B0 ltac:(lia) eq_refl y0 T0) as [F1 [F2 _]].
    split; [exact F1|]. split; [exact Z0|]. split; [now apply F2|]. left. auto.
Qed.

(** A c that is zero. *)
Lemma sticky_c w x : decode (c_format d) w = Num x -> is_zero x = true -> exists y, taken_c d (Num x) = Num y /\
  settled f y /\ is_zero y = false /\ bp (exp y) <= Rabs (V y) /\ exp y = ze /\ Rabs (V y) = bp ze.
Proof.
  intros D Zx. destruct sticky_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [Oc [Fc _]]]]]]]]]]]]]. destruct (decode_num _ _ _ Oc D) as [_ [Fx _]]. pose proof (format_bits _ Oc) as F0.
  exists (with_exponent ze (as_one x)).
  assert (Fl : flush (c_rule d) (Num x) = Num x) by (unfold flush, is_subnormal; now rewrite Zx).
  unfold taken_c. rewrite Fl, Zd. unfold zero_as. cbn [num_of]. rewrite Zx. split; [reflexivity|].
  set (y := with_exponent ze (as_one x)).
  assert (Vy : Rabs (V y) = bp ze).
  { rewrite V_parts. unfold y, with_exponent, as_one. rewrite Zx. cbn [sig frac exp]. rewrite (Rabs_pos_eq (IZR (2 ^ frac x))) by (apply IZR_le, Z.pow_nonneg; lia).
    rewrite bp_frac by lia. ring. }
  split; [|split; [|split; [|split]]].
  - apply short_settled. unfold y, with_exponent, as_one. rewrite Zx. cbn [frac]. lia.
  - destruct (is_zero y) eqn:Q; auto. rewrite (V_zero y Q), Rabs_R0 in Vy. pose proof (bpow_gt_0 radix2 ze). lra.
  - rewrite Vy. apply bpow_le. cbn. lia.
  - reflexivity.
  - exact Vy.
Qed.

Let k := kappa s f (IZR (sticky_units n) * / 4096).

Lemma sticky_block b w x z : (length b <= block d)%nat -> Forall (made_by d) b -> Forall (leading_element d) b ->
  decode (c_format d) w = Num x -> is_zero x = true -> block_value d (Num x) b = Num z ->
  Rabs (V z - Rsum (map (term_value (plain_zeros d)) b)) <= k * Rsum (map (fun e => Rabs (term_value (plain_zeros d) e)) b) +
    (flush_loss (out s) + (IZR n + (1 + k) * (2 * IZR n + 1)) * bp ze).
Proof.
  intros Lb Mb Le D Zx H. destruct (sticky_c w x D Zx) as [y [Ty [Sy [Zy [By [Ey Vy]]]]]].
  destruct sticky_parts as [F [A [Nn [Mc [Ne [F0 [P11 [Ca [[B0 Bf] [Zl [Mo [Oc [Fc [N1 [Sc [Cv [Co [Cu [Pl [On [En [Od Sk]]]]]]]]]]]]]]]]]]]]]].
  unfold block_value, skipped, ordered, terms in H. rewrite Sk, Od, Cu, Sd, Ty in H. cbn [andb fst snd block_sum] in H. change (map _ b) with (map (term d) b) in H.
  unfold on_numbers in H. destruct (numbers (map (term d) b ++ [Num y])) as [ts|] eqn:N; [|exfalso; now apply (special_not_num _ _ H)].
  destruct (numbers_app _ _ _ N) as [us [y' [-> [Q Eu]]]]. injection Q as <-.
  assert (Lu : length us = length b) by (rewrite <- (map_length Num us), <- Eu, map_length; reflexivity).
  assert (nn : IZR (Z.of_nat (length us)) <= IZR n) by (apply IZR_le; unfold n; lia).
  assert (Tu : Forall (fun q => settled f q /\ is_zero q = false /\ bp (exp q) <= Rabs (V q) /\ (has t q \/ exp q = ze /\ Rabs (V q) <= bp (ze + 1))) us /\
    Rabs (exact_sum us - Rsum (map (term_value (plain_zeros d)) b)) <= IZR (Z.of_nat (length us)) * bp (ze + 1) /\
    magnitude us <= Rsum (map (fun e => Rabs (term_value (plain_zeros d) e)) b) + IZR (Z.of_nat (length us)) * bp (ze + 1)).
  { clear H N Lu nn Lb. rewrite Forall_forall in Mb, Le. revert us Eu. induction b as [|e r IH]; intros us Eu; destruct us as [|q us]; try discriminate Eu.
    - split; [constructor|]. unfold exact_sum, magnitude. cbn. rewrite Rminus_0_r, Rabs_R0. lra.
    - cbn [map] in Eu. injection Eu as E1 E2. destruct (IH (fun e' He => Mb e' (or_intror He)) (fun e' He => Le e' (or_intror He)) us E2) as [I1 [I2 I3]].
      destruct (sticky_term e q (Mb e (or_introl eq_refl)) (Le e (or_introl eq_refl)) E1) as [T1 [T2 [T3 T4]]].
      unfold exact_sum, magnitude in *. cbn [map length]. rewrite !Rsum_cons, Nat2Z.inj_succ, succ_IZR. pose proof (bpow_gt_0 radix2 (ze + 1)) as B.
      destruct T4 as [[T4 T5]|[T4 [T5 T6]]].
      + assert (Tv : term_value (plain_zeros d) e = V q) by (unfold term_value; now rewrite T4). rewrite Tv. split; [constructor; auto|].
        replace (V q + Rsum (map V us) - (V q + Rsum (map (term_value (plain_zeros d)) r))) with (Rsum (map V us) - Rsum (map (term_value (plain_zeros d)) r)) by ring. lra.
      + rewrite T4. split; [constructor; auto 6|]. rewrite Rabs_R0. split; [|lra].
        replace (V q + Rsum (map V us) - (0 + Rsum (map (term_value (plain_zeros d)) r))) with (V q + (Rsum (map V us) - Rsum (map (term_value (plain_zeros d)) r))) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. lra. }
  destruct Tu as [Tu [Xu Mu]]. set (X := Rsum (map (term_value (plain_zeros d)) b)) in *. set (Am := Rsum (map (fun e => Rabs (term_value (plain_zeros d) e)) b)) in *.
  assert (n1 : 1 <= IZR n) by (apply IZR_le; lia). pose proof (bpow_gt_0 radix2 ze) as Bz. assert (Bz1 : bp (ze + 1) = 2 * bp ze) by (rewrite bpow_plus; change (bp 1) with 2; ring).
  assert (Ft : Forall (fun q => settled f q /\ is_zero q = false /\ bp (exp q) <= Rabs (V q)) (us ++ [y])).
  { apply Forall_app. split; [|constructor; auto]. eapply Forall_impl; [|exact Tu]. intros q [Q1 [Q2 [Q3 _]]]. auto. }
  pose proof (sticky_loss s f us y z ze n F A Nn Mc Ne F0 P11 N1 ltac:(unfold n; lia) Ft ltac:(lra) Ey) as R. fold k in R.
  assert (K0 : 0 <= k).
  { unfold k, kappa, kept. rewrite Ne, A. cbn [growth]. pose proof (share_pos (out s)). assert (0 <= IZR (sticky_units n)) by (apply IZR_le; unfold sticky_units; lia).
    pose proof (bpow_ge_0 radix2 (- f)). assert (0 <= IZR (sticky_units n) * / 4096 * bp (- f)) by (apply Rmult_le_pos; lra). lra. }
  assert (R' : Rabs (V z - exact_sum (us ++ [y])) <= k * magnitude (us ++ [y]) + (flush_loss (out s) + IZR n * bp ze)).
  { apply R; auto. clear R. unfold sticky_carry in Ca. destruct (carry_bits s) as [c|]; [|auto]. rewrite F in Ca. repeat rewrite andb_true_iff in Ca. destruct Ca as [[C1 C2] C3].
    apply Z.leb_le in C1, C3. apply Z.ltb_lt in C2. split; [lia|]. intros E La. rewrite magnitude_snoc, Vy.
    assert (Top : forall q, In q (us ++ [y]) -> (exp q <= E)%Z).
    { intros q Hq. rewrite Forall_forall in Ft. destruct (Ft q Hq) as [_ [Zq _]]. pose proof (largest_in s _ q Hq) as I. rewrite La in I. unfold term_exponent in I. rewrite Zq, Nn in I. exact I. }
    destruct (existsb (fun q => low t <=? exp q)%Z us) eqn:Ex.
    - apply existsb_exists in Ex. destruct Ex as [q [Hq Lq]]. apply Z.leb_le in Lq. pose proof (Top q ltac:(apply in_or_app; now left)) as Eq.
      assert (Each : forall q', In q' us -> Rabs (V q') <= IZR (most t) * bp (E - bits t)).
      { intros q' Hq'. rewrite Forall_forall in Tu. destruct (Tu q' Hq') as [_ [_ [_ [Hh|[He Hv]]]]].
        - destruct Hh as [[Hp Hm] [hf _]]. apply IZR_le in Hm. rewrite mult_IZR in Hm.
          assert (Vq : Rabs (V q') = IZR (sig q') * bp (lsb q')) by (rewrite V_abs, Rabs_pos_eq; auto; now apply IZR_le).
          rewrite <- bp_Z in Hm by lia. rewrite Vq. replace (lsb q') with ((bits t - frac q') + (exp q' - bits t))%Z by (unfold lsb; lia). rewrite bpow_plus, <- Rmult_assoc.
          eapply Rle_trans; [apply Rmult_le_compat_r; [apply bpow_ge_0|exact Hm]|]. apply Rmult_le_compat_l; [apply IZR_le; lia|]. apply bpow_le. pose proof (Top q' ltac:(apply in_or_app; now left)). lia.
        - eapply Rle_trans; [exact Hv|]. apply Rle_trans with (bp (bits t) * bp (E - bits t)).
          + rewrite <- bpow_plus. apply bpow_le. lia.
          + apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le. }
      assert (Sm : magnitude us <= IZR n * (IZR (most t) * bp (E - bits t))).
      { apply Rle_trans with (IZR (Z.of_nat (length us)) * (IZR (most t) * bp (E - bits t))).
        - clear -Each. unfold magnitude. induction us as [|a r IH]; [cbn; lra|]. cbn [map length]. rewrite Rsum_cons, Nat2Z.inj_succ, succ_IZR.
          pose proof (Each a (or_introl eq_refl)). specialize (IH (fun q Hq => Each q (or_intror Hq))). lra.
        - apply Rmult_le_compat_r; auto. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]. }
      set (g := Z.max (bits t) (low t - ze)) in *. apply IZR_lt in C2. rewrite plus_IZR, !mult_IZR, <- !bp_Z in C2 by lia.
      apply (Rmult_lt_compat_r (bp (E - g))) in C2; [|apply bpow_gt_0]. rewrite Rmult_plus_distr_r, <- !bpow_plus in C2. rewrite (Rmult_assoc (IZR n * IZR (most t))), <- bpow_plus in C2.
      replace (g - bits t + (E - g))%Z with (E - bits t)%Z in C2 by lia. replace (g - (low t - ze) + (E - g))%Z with (E - (low t - ze))%Z in C2 by lia.
      replace (g + 1 + c + (E - g))%Z with (E + 1 + c)%Z in C2 by lia.
      assert (bp ze <= bp (E - (low t - ze))) by (apply bpow_le; lia). lra.
    - assert (All : forall q, In q us -> exp q = ze /\ Rabs (V q) <= bp (ze + 1)).
      { intros q Hq. rewrite Forall_forall in Tu. destruct (Tu q Hq) as [_ [_ [_ [Hh|Hh]]]]; auto. exfalso. destruct Hh as [_ [_ Hl]].
        assert (existsb (fun q => low t <=? exp q)%Z us = true); [|congruence]. apply existsb_exists. exists q. split; auto. now apply Z.leb_le. }
      assert (zE : (ze <= E)%Z) by (rewrite <- Ey; apply Top; apply in_or_app; right; now left).
      assert (Sm : magnitude us <= IZR n * bp (ze + 1)).
      { apply Rle_trans with (IZR (Z.of_nat (length us)) * bp (ze + 1)); [|apply Rmult_le_compat_r; auto; apply bpow_ge_0].
        clear -All. unfold magnitude. induction us as [|a r IH]; [cbn; lra|]. cbn [map length]. rewrite Rsum_cons, Nat2Z.inj_succ, succ_IZR.
        destruct (All a (or_introl eq_refl)) as [_ Q]. specialize (IH (fun q Hq => All q (or_intror Hq))). lra. }
      apply IZR_le in C3. rewrite plus_IZR, <- bp_Z in C3 by lia.
      assert (Bc : bp c * bp (ze + 1) <= bp (E + 1 + c)) by (rewrite <- bpow_plus; apply bpow_le; lia).
      pose proof (Rmult_le_compat_r (bp (ze + 1)) _ _ (bpow_ge_0 radix2 _) C3) as C4. lra. }
  clear R. rewrite exact_sum_snoc, magnitude_snoc, Vy in R'.
  assert (Nz : IZR (Z.of_nat (length us)) * bp (ze + 1) <= 2 * IZR n * bp ze) by (rewrite Bz1; pose proof (Rmult_le_compat_r (2 * bp ze) _ _ ltac:(lra) nn); lra).
  replace (V z - X) with ((V z - (exact_sum us + V y)) + ((exact_sum us - X) + V y)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (exact_sum us - X) (V y)) as T.
  assert (Km : k * (magnitude us + bp ze) <= k * (Am + (2 * IZR n + 1) * bp ze)) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End Designs.

(** For all words of one block whose factors have leading bits, and c = 0: |d - exact| <= kappa Σ|terms|, and what counts only beside
    subnormal results. *)
Theorem sticky_error_from_zero d s f ze w z x : fused_sum d = Some s -> sticky_ok d f = true -> zero_terms (factors d) = Some ze ->
  length (blocks_of_word d w) = 1%nat -> decode (c_format d) (c_word w) = Num x -> is_zero x = true -> Forall (leading_element d) (elements d w) ->
  value d w = Num z ->
  let n := Z.of_nat (block d) in
  let k := kappa s f (IZR (sticky_units n) * / 4096) in
  Rabs (V z - Rsum (map (term_value (plain_zeros d)) (elements d w))) <=
    k * Rsum (map (fun e => Rabs (term_value (plain_zeros d) e)) (elements d w)) + (flush_loss (out s) + (IZR n + (1 + k) * (2 * IZR n + 1)) * bp ze).
Proof.
  intros S O Zd One D Zx Le Vz n k. pose proof O as O'. unfold sticky_ok in O'. unfold fused_sum in S.
  destruct (sums d) as [[?|]|s'| | | | | | |] eqn:Sd; try discriminate; injection S as ->. rewrite Zd in O'.
  destruct (term_facts (plain_zeros d)) as [t|] eqn:Td; [|discriminate]. clear O'.
  destruct (sticky_parts d s f ze t Sd Zd Td O) as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [N1 [_ [_ [Co _]]]]]]]]]]]]]]]]].
  assert (Bn : (0 < block d)%nat) by lia. assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  pose proof (cut_list_blocks (made_by d) (block d) Bn (length (elements d w)) _ (elements_made d w)) as B. fold (blocks_of_word d w) in B.
  unfold value in Vz. rewrite Co, D in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  destruct (blocks_of_word d w) as [|b [|? ?]]; try discriminate One. cbn in Cc. rewrite app_nil_r in Cc. cbn in Vz. pose proof (Forall_inv B) as [B1 B2]. rewrite <- Cc in *.
  exact (sticky_block d s f ze t Sd Zd Td O b (c_word w) x z B1 B2 Le D Zx Vz).
Qed.
