(** Truncated sums from c = 0: the first block has a constant of its own, nothing is lost where exponents are near, and
    compositions of calls add c at the end.  Sums of integers of every design of one fused sum. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Losses Accumulated Trees.
Import ListNotations.
Open Scope R_scope.

(** * The first block *)

(** Units that n products lose beside a c that is zero. *)
Definition units_alone (lam : R) (n : Z) : R := lam * IZR (Z.max (n - 1) 0).

Lemma units_alone_pos lam n : 0 <= lam -> 0 <= units_alone lam n.
Proof. intros. unfold units_alone. assert (0 <= IZR (Z.max (n - 1) 0)) by (apply IZR_le; lia). nra. Qed.

Theorem block_loss_alone s f e0 l lam n us x z :
  truncated_ok s f e0 l = true -> 0 <= lam <= 1 -> (Z.of_nat (length us) <= n)%Z ->
  Forall (fun y => settled f y /\ normal y /\ (l <= exp y)%Z) us ->
  (forall y y', In y us -> In y' us -> is_zero y = false -> is_zero y' = false -> loss (alignment s) (exp y' - f) y <= lam * bp (exp y' - f)) ->
  fit_c f e0 l x -> is_zero x = true ->
  sum_numbers s (us ++ [x]) = Num z ->
  Rabs (V z - exact_sum (us ++ [x])) <= kappa s f (units_alone lam n) * magnitude (us ++ [x]) + eta s f e0 (all_units n) /\ fit_c f e0 l z.
Proof.
  intros O La Ln Fu Lo Fx Zx. rewrite Forall_forall in Fu. apply terms_loss; auto.
  - split; [now apply units_alone_pos|]. unfold units_alone, all_units. assert (IZR (Z.max (n - 1) 0) <= IZR n) by (apply IZR_le; lia).
    assert (0 <= IZR (Z.max (n - 1) 0)) by (apply IZR_le; lia). nra.
  - intros q Hq Zq. apply in_app_or in Hq. destruct Hq as [Hq|[<-|[]]]; [now apply Fu|congruence].
  - intros y Hy Zy. assert (Hu : In y us) by (apply in_app_or in Hy; destruct Hy as [Hy|[<-|[]]]; [exact Hy|congruence]).
    destruct (Fu y Hu) as [Sy [By _]]. split.
    + left. eapply Rle_trans; [exact (By Zy)|]. now apply magnitude_in.
    + eapply Rle_trans; [apply (losses_alone (alignment s) (exp y - f) lam us x y (proj1 La)); auto; [|now apply settled_loss]|].
      * apply Forall_forall. intros q Hq. destruct (is_zero q) eqn:Zq; [|now apply Lo].
        rewrite loss_zero by exact Zq. apply Rmult_le_pos; [lra|apply bpow_ge_0].
      * apply Rmult_le_compat_r; [apply bpow_ge_0|]. unfold units_alone. apply Rmult_le_compat_l; [lra|]. apply IZR_le. lia.
  - intros u. now apply all_losses.
Qed.

(** What the products of the first block lose beside each other: [lam] 4096ths of a unit, or nothing where they are near. *)
Definition near (d : design) (f : Z) (b : list element) : Prop :=
  forall e e' y y', In e b -> In e' b -> term d e = Num y -> term d e' = Num y' -> is_zero y = false -> is_zero y' = false ->
    (exp y' - f <= lsb y)%Z.

Definition alone_ok (d : design) (s : sum) (f lam : Z) (b : list element) : Prop :=
  (0 <= lam <= 4096)%Z /\ (share_ok d (alignment s) lam = true \/ near d f b).

Theorem first_block d s t f lam lam0 b x z :
  sum_of d = Some s -> term_facts d = Some t -> relative_ok d f lam = true -> block_ok d b -> alone_ok d s f lam0 b ->
  fit_c f (floor_of d s) (low_of d t s) x -> is_zero x = true -> block_value d (Num x) b = Num z ->
  fit_c f (floor_of d s) (low_of d t s) z /\
  Rabs (V z - Rsum (map (term_value d) b)) <=
    kappa s f (units_alone (IZR lam0 * / 4096) (Z.of_nat (block d))) * Rsum (map (fun e => Rabs (term_value d e)) b) +
    eta s f (floor_of d s) (all_units (Z.of_nat (block d))).
Proof.
  intros S T O [Lb [Mb Lead]] [[L00 L01] Al] Fx Zx E. pose proof O as O'. unfold relative_ok in O. rewrite S, T in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[Tr B1] B0] Of] Bn] Sh] L0] L1] Ck] Of1].
  apply Z.leb_le in B1, B0, L0, L1. apply negb_true_iff in Of1. destruct (c_rule d) eqn:Ckr; try easy.
  destruct (block_taken d s b x z S Ckr Of1 (term_facts_zero d t T) E) as [us [Eu [Lu [In1 Sz]]]]. rewrite Forall_forall in Mb, Lead.
  destruct (block_loss_alone s f (floor_of d s) (low_of d t s) (IZR lam0 * / 4096) (Z.of_nat (block d)) us x z) as [R F]; auto.
  - apply IZR_le in L00. apply IZR_le in L01. lra.
  - lia.
  - apply Forall_forall. intros y Hy. destruct (In1 y Hy) as [e [He Ee]].
    destruct (term_fit d t f (low_of d t s) lam (alignment s) e T (Mb e He) (Lead e He) B1 B0 ltac:(unfold low_of; lia) Sh y Ee) as [A [B [C _]]]. auto.
  - intros y y' Hy Hy' Zy Zy'. destruct (In1 y Hy) as [e [He Ee]]. destruct (In1 y' Hy') as [e' [He' Ee']].
    destruct Al as [Al|Al].
    + destruct (term_fit d t f (low_of d t s) lam0 (alignment s) e T (Mb e He) (Lead e He) B1 B0 ltac:(unfold low_of; lia) Al y Ee) as [_ [_ [_ D]]]. apply D.
    + unfold loss. rewrite fix_rnd_exact by (intros _; exact (Al e e' y y' He He' Ee Ee' Zy Zy')). rewrite Rminus_eq_0, Rabs_R0.
      apply Rmult_le_pos; [|apply bpow_ge_0]. apply IZR_le in L00. lra.
  - split; auto. destruct (terms_sums d b us x Eu) as [E1 E2]. now rewrite E1, E2, (V_zero x Zx), Rabs_R0, !Rplus_0_l in R.
Qed.

(** From zero, over the blocks after the first: C = (1 + kappa_0) (1 + kappa)^(m-1) - 1. *)
Theorem blocks_from_zero d s t f lam lam0 b bs x z :
  sum_of d = Some s -> term_facts d = Some t -> relative_ok d f lam = true -> Forall (block_ok d) (b :: bs) -> alone_ok d s f lam0 b ->
  fit_c f (floor_of d s) (low_of d t s) x -> is_zero x = true -> in_turn d (b :: bs) (Num x) = Num z ->
  let k := kappa s f (units (IZR lam * / 4096) (Z.of_nat (block d))) in
  let h := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  let k0 := kappa s f (units_alone (IZR lam0 * / 4096) (Z.of_nat (block d))) in
  let h0 := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  Rabs (V z - Rsum (map (term_value d) (concat (b :: bs)))) <=
    ((1 + k0) * (1 + k) ^ length bs - 1) * Rsum (map (fun e => Rabs (term_value d e)) (concat (b :: bs))) +
    ((1 + k) ^ length bs * h0 + h * geometric k (length bs)).
Proof.
  intros S T O Fb Al Fx Zx R k h k0 h0. apply Forall_cons_iff in Fb. destruct Fb as [Hb Hbs].
  unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d bs (block_value d (Num x) b)) in R.
  assert (L00 : 0 <= IZR lam0 * / 4096) by (destruct Al as [[Al _] _]; apply IZR_le in Al; lra).
  assert (Nn : forall v, is_num v = false -> in_turn d bs v = Num z -> False).
  { intros v Hv Ev. assert (G : c_rule d = Kept).
    { unfold relative_ok in O. rewrite S, T in O. repeat rewrite andb_true_iff in O. destruct O as [[_ Q] _]. now destruct (c_rule d). }
    pose proof (not_num_stays d s bs v S G (term_facts_zero d t T) Hv) as NN. now rewrite Ev in NN. }
  destruct (block_value d (Num x) b) as [y| |] eqn:Ey; [|exfalso; exact (Nn (Inf _) eq_refl R)|exfalso; exact (Nn NaN eq_refl R)].
  destruct (first_block d s t f lam lam0 b x y S T O Hb Al Fx Zx Ey) as [Fy Sy]. fold k0 h0 in Sy.
  assert (AU : 0 <= all_units (Z.of_nat (block d))) by (unfold all_units; assert (0 <= IZR (Z.of_nat (block d))) by (apply IZR_le; lia); lra).
  set (sb := Rsum (map (term_value d) b)) in *. set (ab := Rsum (map (fun e => Rabs (term_value d e)) b)) in *.
  assert (sab : Rabs sb <= ab).
  { unfold sb, ab. clear. induction b; cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. }
  pose proof (chain_growth d s t f lam S T O bs y z sb ab k0 h0 Hbs Fy (kappa_pos s f _ (units_alone_pos _ _ L00)) (eta_pos s f _ _ AU) sab Sy R) as G.
  fold k h in G. cbn [concat]. rewrite !map_app, !Rsum_app. fold sb ab. exact G.
Qed.

(** ** Products of formats whose exponents lie near each other *)

Definition exp_most (f : format) : Z := (2 ^ ebits f - 1 - bias f)%Z.

Lemma decode_most f w x : format_ok f = true -> (1 <=? ebits f)%Z = true -> decode f w = Num x -> (exp x <= exp_most f)%Z.
Proof.
  intros O E1 H. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2]. apply Z.leb_le in O1, O2, E1.
  pose proof (decode_finite f w x H) as Fin. cbv zeta in Fin.
  set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z) in *.
  assert (B : (code / 2 ^ fbits f < 2 ^ ebits f)%Z).
  { apply Z.div_lt_upper_bound; [apply pow2_pos; lia|]. rewrite <- Z.pow_add_r by lia. rewrite Z.add_comm. apply Z.mod_pos_bound. apply pow2_pos. lia. }
  assert (C : (2 ^ 1 <= 2 ^ ebits f)%Z) by (apply Z.pow_le_mono_r; lia).
  set (e := (code / 2 ^ fbits f)%Z) in *. set (t := (code mod 2 ^ fbits f)%Z) in *. unfold exp_most.
  remember (1 - bias f)%Z as m1 eqn:Em. clearbody e t. clear H. destruct ((e =? 0)%Z && has_zero f); subst x; cbn [exp]; lia.
Qed.

Lemma operand_most d f w x : operand_ok d f = true -> (1 <=? ebits f)%Z = true -> exponent_step (factors d) = 1%Z ->
  operand d f w = Num x -> (exp x <= exp_most f)%Z.
Proof.
  intros O E St H. unfold operand in H. rewrite St in H. cbn [Z.eqb Pos.eqb] in H. unfold operand_ok in O. apply andb_prop in O. destruct O as [O C].
  pose proof (decode_has f w O) as D. pose proof (fun y => decode_most f w y O E) as M.
  destruct (converted d) as [g|]; [|now apply M]. destruct (decode f w) as [y| |]; try easy. injection H as <-. apply Z.leb_le in C.
  destruct (in_format_has f g y O C (D y eq_refl)) as [_ L]. specialize (M y eq_refl). lia.
Qed.

Lemma factor_most q r v m x : (forall y, v = Num y -> (exp y <= m)%Z) -> kept_or_zero r = true -> factor q r v = Num x -> (exp x <= m)%Z.
Proof.
  intros M K H. unfold factor in H.
  assert (A : forall y, flush r v = Num y -> (exp y <= m)%Z).
  { intros y Hy. destruct v as [w| |]; try easy. specialize (M w eq_refl). unfold flush in Hy.
    destruct (negb (is_subnormal w)); [injection Hy as <-; auto|]. destruct r; try easy; injection Hy as <-; auto. }
  destruct (normalise_factors q); [|now apply A].
  destruct (flush r v) as [w| |]; try easy. injection H as <-. specialize (A w eq_refl). unfold normalised.
  destruct (is_subnormal w) eqn:S; auto. cbn [exp]. unfold is_subnormal in S. apply andb_prop in S. destruct S as [_ S]. apply Z.ltb_lt in S. lia.
Qed.

(** The span of a product's exponents, and that of what a unit cuts. *)
Definition near_ok (d : design) (f : Z) : bool :=
  (1 <=? ebits (a_format d))%Z && (1 <=? ebits (b_format d))%Z && plain_scales d &&
  (exp_most (a_format d) + exp_most (b_format d) - (low (factor_facts d (a_format d)) + low (factor_facts d (b_format d))) +
   (fbits (a_format d) + fbits (b_format d)) <=? f)%Z.

Definition scale_exponent (ss : list val) : Z := zsum (map (fun v => (exp (num_of v))) ss).

Lemma fold_product_num ss : forall v y, fold_left product ss v = Num y ->
  exists x, v = Num x /\ exp y = (exp x + scale_exponent ss)%Z /\ frac y = (frac x + zsum (map (fun v => frac (num_of v)) ss))%Z.
Proof.
  unfold scale_exponent. induction ss as [|s r IH]; intros v y H; cbn [fold_left] in H.
  - exists y. cbn. repeat split; auto; lia.
  - destruct (IH _ _ H) as [x [P [E Fr]]]. apply product_num in P. destruct P as [a [b [-> [-> ->]]]]. exists a.
    cbn [times exp frac] in E, Fr. cbn [map num_of]. unfold zsum in *. cbn [fold_right]. repeat split; auto; lia.
Qed.

(** With one scale for all products of the block, or none, products of such formats are not cut beside each other. *)
Theorem near_formats d t f b ss : term_facts d = Some t -> near_ok d f = true -> Forall (fun e => scaled_by e = ss) b -> Forall (made_by d) b -> near d f b.
Proof.
  intros T O Fs Fm e e' y y' He He' E E' Zy Zy'. rewrite Forall_forall in Fs, Fm. pose proof (Fs e He) as S1. pose proof (Fs e' He') as S2.
  unfold term_facts in T. set (q := factors d) in *. destruct (_ && _) eqn:G in T; [|easy]. repeat rewrite andb_true_iff in G.
  destruct G as [[[[[Oa Ob] Ka] Kb] St] R].
  destruct (zero_terms q) eqn:Zt; [easy|]. destruct (product_rounding q) eqn:Pr; [easy|]. apply Z.eqb_eq in St.
  unfold near_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[Ea Eb] Ps] O]. apply Z.leb_le in O.
  assert (D : forall e y, In e b -> term d e = Num y -> scaled_by e = ss -> exists x, (exp y = exp x + scale_exponent ss)%Z /\ (frac y <= fbits (a_format d) + fbits (b_format d))%Z /\
     (low (factor_facts d (a_format d)) + low (factor_facts d (b_format d)) <= exp x <= exp_most (a_format d) + exp_most (b_format d))%Z).
  { clear e e' y y' He He' E E' Zy Zy' S1 S2. intros e y He E S1. unfold term, scaled_product in E. fold q in E. rewrite Zt, zero_as_none, Pr in E.
    match type of E with match ?fold with _ => _ end = _ => destruct fold as [z| |] eqn:Fo end; try easy.
    assert (Ey : z = y) by (destruct (match product_limit q with Some k => negb (is_zero z) && (k <=? own_exponent z)%Z | None => false end); [easy|now injection E]). subst z.
    destruct (fold_product_num _ _ _ Fo) as [x [X [Ex Fr]]]. exists x. rewrite S1 in Ex, Fr.
    assert (Z0 : zsum (map (fun v => frac (num_of v)) ss) = 0%Z).
    { pose proof (Fm e He) as M. unfold made_by in M. unfold plain_scales in Ps. destruct (scales d) as [[g k]|].
      - apply Z.eqb_eq in Ps. destruct M as [sa [sb M]]. rewrite M in S1. rewrite <- S1. destruct (format_ok g) eqn:Og; [|easy].
        assert (W : forall w, frac (num_of (decode g w)) = 0%Z).
        { intros w. destruct (decode g w) as [v| |] eqn:Dv; auto. destruct (decode_num _ _ _ Og Dv) as [_ [Fv _]]. cbn. lia. }
        unfold zsum. cbn [map fold_right]. rewrite !W. reflexivity.
      - rewrite M in S1. now rewrite <- S1. }
    assert (X' : exists a c, a_of d e = Num a /\ b_of d e = Num c /\ exp x = (exp a + exp c)%Z /\ frac x = (frac a + frac c)%Z).
    { destruct (subtracted q (index e)).
      - destruct (product (a_of d e) (b_of d e)) as [w| |] eqn:W; try easy. injection X as <-. apply product_num in W. destruct W as [a [c [A1 [A2 ->]]]].
        exists a, c. auto.
      - apply product_num in X. destruct X as [a [c [A1 [A2 ->]]]]. exists a, c. auto. }
    destruct X' as [a [c [A1 [A2 [A3 A4]]]]].
    assert (Wa : has_val (factor_facts d (a_format d)) (a_of d e)) by (now apply operand_factor_has).
    assert (Wb : has_val (factor_facts d (b_format d)) (b_of d e)) by (now apply operand_factor_has).
    destruct (Wa a A1) as [_ [Fa La]]. destruct (Wb c A2) as [_ [Fc Lc]].
    assert (Ha : (exp a <= exp_most (a_format d))%Z).
    { eapply factor_most; [|exact Ka|exact A1]. intros y0 Hy0. now apply (operand_most d (a_format d) (a_word e)). }
    assert (Hc : (exp c <= exp_most (b_format d))%Z).
    { eapply factor_most; [|exact Kb|exact A2]. intros y0 Hy0. now apply (operand_most d (b_format d) (b_word e)). }
    cbn [bits factor_facts facts_normal operand_facts] in Fa, Fc. split; [exact Ex|]. split; lia. }
  destruct (D e y He E S1) as [x [X1 [X2 X3]]]. destruct (D e' y' He' E' S2) as [x' [X1' [_ X3']]]. unfold lsb. lia.
Qed.
