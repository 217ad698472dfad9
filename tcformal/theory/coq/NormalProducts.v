(** Products that a rounding only normalises: one sum of them is that of the exact ones with the exponents of their leading bits. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant AtOnce Mirror Axes Zeros Stages Operands StepNans ProductRounding.
Import ListNotations.
Open Scope Z_scope.

(** The same number, with the exponent of its leading bit. *)
Definition led (x y : num) : Prop := is_zero y = is_zero x /\ V y = V x /\ (is_zero x = false -> exp y = own_exponent x).
Definition led_val (v w : val) : Prop := match v, w with Num x, Num y => led x y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma fitting_product c x y : 0 <= p c -> sig x < 2 ^ (p c + 1) -> 0 <= sig x -> (is_zero x = false -> emin c <= own_exponent x <= emax c) ->
  round_num (Floating c) x = y -> exists z, y = Num z /\ led x z.
Proof.
  intros P S S0 R <-. unfold round_num, round_to. assert (Ab : Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia).
  unfold convert. set (n := signed x) in *. set (u := lsb x). destruct (is_zero x) eqn:Z.
  - assert (N : n = 0) by (unfold is_zero in Z; apply Z.eqb_eq in Z; lia). rewrite N, !round_div_0. cbn [Z.eqb orb].
    eexists. split; [reflexivity|]. split; [now rewrite Z|]. split; [|intros Q; rewrite Z in Q; easy]. rewrite (V_zero x) by exact Z. apply V_zero. reflexivity.
  - specialize (R eq_refl). unfold own_exponent in R. unfold is_zero in Z. apply Z.eqb_neq in Z. fold u in R. assert (N : n <> 0) by lia. rewrite <- Ab in S.
    assert (L : Z.log2 (Z.abs n) < p c + 1) by (apply Z.log2_lt_pow2; lia). assert (Own : Z.log2 (Z.abs (sig x)) = Z.log2 (Z.abs n)) by (rewrite Ab, Z.abs_eq by lia; reflexivity). rewrite Own in R.
    pose proof (normal_sum c n u P N ltac:(lia)) as Ns. unfold last_bit in *. destruct (Z.eqb_spec n 0); [easy|]. rewrite Z.max_l in * by lia. set (ex := Z.log2 (Z.abs n) + u - p c) in *.
    assert (D : (2 ^ Z.max 0 (ex - u) | n)) by (rewrite Z.max_l by (unfold ex; lia); apply Z.divide_1_l).
    pose proof (exact_log (rho c) n (ex - u) D N) as E. set (r := round_div (rho c) n (ex - u)) in *.
    assert (Rv : r = n * 2 ^ (u - ex)) by (unfold r; rewrite round_div_unfold; destruct (Z.leb_spec (ex - u) 0); [do 2 f_equal; lia|unfold ex in *; lia]).
    assert (Nr : r <> 0) by (rewrite Rv; pose proof (Z.pow_pos_nonneg 2 (u - ex) ltac:(lia) ltac:(unfold ex; lia)); nia).
    destruct (Z.eqb_spec r 0); [easy|]. cbn [orb]. rewrite Ns, andb_false_r.
    destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)); [lia|]. eexists. split; [reflexivity|]. rewrite (Z.max_l (Z.log2 (Z.abs r) + ex)) by lia. split; [|split].
    + unfold is_zero. cbn [sig]. destruct (Z.eqb_spec (Z.abs r) 0), (Z.eqb_spec (sig x) 0); lia.
    + unfold V at 1, signed, lsb. cbn [neg sig exp frac]. replace (Z.log2 (Z.abs r) + ex - (Z.log2 (Z.abs r) + ex - ex)) with ex by lia.
      assert (Sg : (if r <? 0 then - Z.abs r else Z.abs r) = r) by (destruct (Z.ltb_spec r 0); lia). rewrite Sg, Rv, mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by (unfold ex; lia).
      unfold V. fold n u. do 2 f_equal. lia.
    + intros _. cbn [exp]. unfold own_exponent. fold u. rewrite Own. lia.
Qed.

(** * One sum *)

Lemma cut_value m u x y : V x = V y -> cut m u x = cut m u y.
Proof. intros H. pose proof (cut_ok m u x) as A. pose proof (cut_ok m u y) as B. rewrite H, <- B in A. pose proof (bpow_gt_0 radix2 u). apply eq_IZR. nra. Qed.

Section Sum.
Variables (e : sum) (f low : Z) (c : num).
Let e' := with_normalise e true.
Hypotheses (F : fraction_bits e = Some f) (K : carry_bits e = None) (Z0 : zero_exponent e = ZeroNone) (N : normalise e = false) (U : unseen_sign (out e) = true)
  (Fc : frac c <= f) (Oc : is_zero c = false -> own_exponent c = exp c \/ (own_exponent c <= exp c /\ exp c <= low)).

Lemma led_exponents xs ys : Forall2 led xs ys -> map (term_exponent e) ys = map (term_exponent e') xs.
Proof.
  induction 1 as [|x y xs ys [Z [_ X]] H IH]; [reflexivity|]. cbn [map]. rewrite IH. f_equal. unfold term_exponent. cbn [zero_exponent normalise e' with_normalise]. rewrite Z, Z0, N.
  destruct (is_zero x); [reflexivity|]. f_equal. now apply X.
Qed.

Lemma led_counts u xs ys : Forall2 led xs ys -> map (cut (alignment e) u) ys = map (cut (alignment e) u) xs.
Proof. induction 1 as [|x y xs ys [_ [X _]] H IH]; [reflexivity|]. cbn [map]. rewrite IH. f_equal. now apply cut_value. Qed.

Lemma led_sum xs ys : Forall2 led xs ys -> (forall x, In x xs -> is_zero x = false -> low <= own_exponent x) ->
  sum_numbers e (ys ++ [c]) = sum_numbers e' (xs ++ [c]).
Proof.
  intros H Low. assert (T : forall d l, carry_bits d = None -> total d l = zsum (counts d l)) by (intros d l Kd; unfold total; now rewrite Kd).
  assert (Same : unit_of e (ys ++ [c]) = unit_of e' (xs ++ [c]) -> sum_numbers e (ys ++ [c]) = sum_numbers e' (xs ++ [c])).
  { intros E. unfold sum_numbers. rewrite !T by auto. assert (Cn : counts e (ys ++ [c]) = counts e' (xs ++ [c])).
    { unfold counts. rewrite E, !map_app. change (alignment e') with (alignment e). f_equal. now apply led_counts. }
    rewrite Cn, E. change (out e') with (out e). apply convert_unseen; auto. intros Nn. now apply sign_unseen. }
  assert (Lg : largest e ys = largest e' xs) by (unfold largest; now rewrite (led_exponents xs ys H)).
  assert (La : forall d l, largest d (l ++ [c]) = omax (largest d l) (term_exponent d c)).
  { intros d l. rewrite Order.largest_app. f_equal. unfold largest. cbn. now destruct (term_exponent d c). }
  destruct (is_zero c) eqn:Zc.
  { apply Same. unfold unit_of. change (fraction_bits e') with (fraction_bits e). rewrite F, !La, Lg. unfold term_exponent. rewrite Zc. cbn [zero_exponent e' with_normalise]. reflexivity. }
  specialize (Oc eq_refl). assert (T1 : term_exponent e c = Some (exp c)) by (unfold term_exponent; now rewrite Zc, N).
  assert (T2 : term_exponent e' c = Some (own_exponent c)) by (unfold term_exponent; now rewrite Zc).
  destruct Oc as [Oe|[O1 O2]].
  { apply Same. unfold unit_of. change (fraction_bits e') with (fraction_bits e). now rewrite F, !La, Lg, T1, T2, Oe. }
  destruct (largest e' xs) as [m|] eqn:M.
  - apply Same. destruct (largest_attained e' xs m M) as [x [Hx Te]]. destruct (is_zero x) eqn:Zx; [unfold term_exponent in Te; rewrite Zx in Te; change (zero_exponent e') with (zero_exponent e) in Te; rewrite Z0 in Te; easy|].
    assert (Te' : Some (own_exponent x) = Some m) by (rewrite <- Te; unfold term_exponent; now rewrite Zx). injection Te' as Te'. specialize (Low x Hx Zx). unfold unit_of. change (fraction_bits e') with (fraction_bits e). rewrite F, !La, Lg, M, T1, T2. cbn [omax]. lia.
  - assert (Zs : forallb is_zero xs = true) by (apply forallb_forall; intros x Hx; now apply (largest_none e' xs)).
    assert (Zy : forallb is_zero ys = true) by (apply forallb_forall; intros y Hy; now apply (largest_none e ys)).
    assert (Ex : forall d l v, carry_bits d = None -> forallb is_zero l = true -> unit_of d (l ++ [c]) = v - f -> v - f <= lsb c -> alignment d = alignment e ->
      (IZR (total d (l ++ [c])) * bp (unit_of d (l ++ [c])) = V c)%R).
    { intros d l v Kd Zl Ud Lv Al. rewrite T by auto. unfold counts. rewrite map_app, zsum_app, (zeros_count _ _ _ Zl), zsum_zeros. unfold zsum. cbn [map fold_right]. rewrite Z.add_0_l, Z.add_0_r, cut_ok.
      apply fix_rnd_multiple, multiple_lsb. lia. }
    assert (U1 : unit_of e (ys ++ [c]) = exp c - f) by (unfold unit_of; rewrite F, La, Lg, T1; reflexivity).
    assert (U2 : unit_of e' (xs ++ [c]) = own_exponent c - f) by (unfold unit_of; change (fraction_bits e') with (fraction_bits e); rewrite F, La, M, T2; reflexivity).
    pose proof (Ex e ys (exp c) K Zy U1 ltac:(unfold lsb; lia) eq_refl) as A. pose proof (Ex e' xs (own_exponent c) K Zs U2 ltac:(unfold lsb; lia) eq_refl) as B.
    unfold sum_numbers. change (out e') with (out e). rewrite (convert_ext (out e) _ _ _ _ _ (unit_of e' (xs ++ [c])) (eq_trans A (eq_sym B)) eq_refl).
    apply convert_unseen; auto. intros Nn. unfold sign_of. rewrite <- (scaled_neg _ _ _ _ (eq_trans A (eq_sym B))), <- (scaled_zero _ _ _ _ (eq_trans A (eq_sym B))).
    rewrite <- (scaled_zero _ _ _ _ (eq_trans A (eq_sym B))) || idtac. destruct (Z.eqb_spec (total e (ys ++ [c])) 0) as [Q|Q]; [|reflexivity]. exfalso. apply Nn.
    pose proof (scaled_zero _ _ _ _ (eq_trans A (eq_sym B))) as Sz. rewrite Q in Sz. symmetry in Sz. now apply Z.eqb_eq in Sz.
Qed.
End Sum.

Lemma led_lists vs ws : Forall2 led_val vs ws ->
  (exists xs ys, vs = map Num xs /\ ws = map Num ys /\ Forall2 led xs ys) \/ (forallb is_num vs = false /\ forallb is_num ws = false).
Proof.
  induction 1 as [|v w vs ws A H [[xs [ys [-> [-> I]]]]|[I J]]].
  - left. exists [], []. auto.
  - destruct v as [x| |], w as [y| |]; try easy; [left; exists (x :: xs), (y :: ys); auto|right; auto|right; auto].
  - right. cbn [forallb]. rewrite I, J, !andb_false_r. auto.
Qed.

Lemma led_special vs ws c : Forall2 led_val vs ws -> special_sum (ws ++ [c]) = special_sum (vs ++ [c]).
Proof.
  intros H. unfold special_sum. assert (E : forall q : val -> bool, (forall x, q (Num x) = false) -> existsb q (ws ++ [c]) = existsb q (vs ++ [c])).
  { intros q Hq. induction H as [|v w vs ws A H IH]; [reflexivity|]. cbn [app existsb]. rewrite IH. f_equal. destruct v, w; try easy; cbn in A; subst; auto. now rewrite !Hq. }
  now rewrite !E.
Qed.

Lemma led_values e f low c vs ws : fraction_bits e = Some f -> carry_bits e = None -> zero_exponent e = ZeroNone -> normalise e = false -> unseen_sign (out e) = true ->
  (forall x, c = Num x -> frac x <= f /\ (is_zero x = false -> own_exponent x = exp x \/ (own_exponent x <= exp x /\ exp x <= low))) ->
  Forall2 led_val vs ws -> (forall x, In (Num x) vs -> is_zero x = false -> low <= own_exponent x) ->
  sum_values e (ws ++ [c]) = sum_values (with_normalise e true) (vs ++ [c]).
Proof.
  intros F K Z0 N U Hc H Low. unfold sum_values. pose proof (led_special vs ws c H) as Sp. destruct (led_lists vs ws H) as [[xs [ys [-> [-> I]]]]|[I J]].
  - rewrite !numbers_zeros. destruct c as [c| |]; cbn [numbers forallb is_num andb]; [|exact Sp|exact Sp]. cbn [map num_of].
    destruct (Hc c eq_refl) as [Fc Oc]. apply (led_sum e f low c F K Z0 N U Fc Oc xs ys I). intros x Hx. apply Low. now apply in_map.
  - unfold numbers. rewrite !forallb_app, I, J. cbn [andb]. exact Sp.
Qed.

(** * From words to words *)

Definition normal_products (d : design) : option summation :=
  match product_rounding (factors d), exact_bounds d, sums d, cutting_of d, composed d with
  | Some (Floating o), Some tb, OneSum (Stage e), Whole, None =>
      if (0 <? Z.of_nat (block d)) && negb (skips d) && match nans d with OneWord => true | _ => false end && match c_rule d with Kept => true | _ => false end && format_ok (c_format d) &&
         match fraction_bits e with Some f => fbits (c_format d) <=? f | None => false end && none (carry_bits e) && zero_none e && negb (normalise e) && unseen_sign (out e) &&
         (0 <=? p o) && (0 <=? width tb - snd (shape_of tb)) && (fst (shape_of tb) * 2 ^ (width tb - snd (shape_of tb)) <? 2 ^ (p o + 1)) && (emin o <=? grid tb) &&
         (Z.max (upto (lead_bounds tb)) (low_upto tb) <=? emax o) && (least (c_format d) <=? grid tb)
      then Some (OneSum (Stage (with_normalise e true))) else None
  | _, _, _, _, _ => None
  end.

Lemma own_least b x : inside b (Num x) -> is_zero x = false -> grid b <= own_exponent x.
Proof.
  intros H Z. destruct (H x eq_refl) as [[S _] [_ [M _]]]. unfold is_zero in Z. apply Z.eqb_neq in Z. unfold own_exponent. rewrite Z.abs_eq by lia.
  destruct M as [m M]. assert (m <> 0) by (intros ->; unfold signed in M; destruct (neg x); lia).
  assert (Z.max 0 (grid b - lsb x) <= Z.log2 (sig x)); [|lia]. rewrite <- (Z.log2_pow2 (Z.max 0 (grid b - lsb x))) by lia. apply Z.log2_le_mono.
  assert (Ab : sig x = Z.abs m * 2 ^ Z.max 0 (grid b - lsb x)) by (rewrite <- (Z.abs_eq (2 ^ _)) by (apply Z.pow_nonneg; lia); rewrite <- Z.abs_mul, <- M; unfold signed; destruct (neg x); lia).
  pose proof (Z.pow_nonneg 2 (Z.max 0 (grid b - lsb x)) ltac:(lia)). nia.
Qed.

Lemma own_most b x : inside b (Num x) -> is_zero x = false -> own_exponent x <= Z.max (upto (lead_bounds b)) (low_upto b).
Proof.
  intros H Z. destruct (lead_inside b (Num x) H (lead x) eq_refl) as [_ [_ [_ [U _]]]]. unfold under in U. cbn [low_upto lead_bounds] in U.
  assert (E : exp (lead x) = own_exponent x) by (unfold lead; now rewrite Z). rewrite E in U. cbn [upto lead_bounds] in *. destruct (low_sig (lead x)); lia.
Qed.

(** Products that their rounding only normalises are those of a sum that normalises them. *)
Theorem normal_products_idle d how w : normal_products d = Some how -> length (pairs w) = block d -> compute d w = compute (with_sums (with_rounding d None) how) w.
Proof.
  unfold normal_products. intros O L. destruct (product_rounding (factors d)) as [[o|]|] eqn:Pr; try discriminate O. destruct (exact_bounds d) as [tb|] eqn:Tb; [|discriminate O].
  destruct (sums d) as [[e|]| | | | | | | |] eqn:S; try discriminate O. destruct (cutting_of d) eqn:Wc; try discriminate O. destruct (composed d) eqn:Co; [discriminate O|].
  destruct (_ && _) eqn:G in O; [|discriminate O]. injection O as <-. repeat rewrite andb_true_iff in G.
  destruct G as [[[[[[[[[[[[[[[B Sk] Nw] Kc] Of] Fe] Ke] Ze] Ne] Ue] Po] Wd] Q] Gr] Tp] Lc]. apply negb_true_iff in Sk, Ne. apply Z.ltb_lt in B, Q. apply Z.leb_le in Po, Wd, Gr, Tp, Lc.
  destruct (fraction_bits e) as [f|] eqn:Ff; [|discriminate Fe]. apply Z.leb_le in Fe. assert (Ke' : carry_bits e = None) by (destruct (carry_bits e); [discriminate Ke|reflexivity]).
  assert (Ze' : zero_exponent e = ZeroNone) by (unfold zero_none in Ze; destruct (zero_exponent e); try discriminate Ze; reflexivity).
  set (d' := with_rounding d None). set (how := OneSum (Stage (with_normalise e true))).
  assert (Bn : (0 < block d)%nat) by lia. rewrite (one_block d w Sk Wc Co Bn L), (one_block (with_sums d' how) w Sk Wc Co Bn L). change (elements (with_sums d' how) w) with (elements d w). set (xs := elements d w).
  change (c_format (with_sums d' how)) with (c_format d). change (d_format (with_sums d' how)) with (d_format d). change (start_of (with_sums d' how) (c_word w)) with (start_of d (c_word w)).
  remember (decode (c_format d) (c_word w)) as v eqn:Sv. set (n0 := snd (start_of d (c_word w))). unfold step_with. cbv zeta. rewrite S. change (sums (with_sums d' how)) with how. unfold how. cbn [block_sum add_from add].
  fold how. change (block_products (with_sums d' how) xs) with (block_products d' xs). change (factor_nans (with_sums d' how) xs) with (factor_nans d xs). change (taken_c (with_sums d' how) v) with (taken_c d' v). change (nan_of_block (with_sums d' how)) with (nan_of_block d').
  assert (Zt : zero_terms (factors d) = None).
  { unfold exact_bounds in Tb. destruct (zero_terms (factors d)); [|reflexivity]. rewrite andb_false_r in Tb. discriminate Tb. }
  assert (Kr : c_rule d = Kept) by (destruct (c_rule d); try discriminate Kc; reflexivity).
  assert (Td : taken_c d v = v) by (unfold taken_c; rewrite Zt, Kr, zero_as_none; apply flush_kept). change (taken_c d' v) with (taken_c d v). rewrite Td.
  assert (One : forall x, made_by d x -> let y := scaled_product (factors d') (a_of d' x) (b_of d' x) (index x) (scaled_by x) in
    led_val y (scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)) /\ (forall z, y = Num z -> is_zero z = false -> grid tb <= own_exponent z)).
  { intros x M. destruct (exact_inside d tb x Tb M) as [_ I]. cbv zeta. unfold scaled_product. change (a_of d' x) with (a_of d x). change (b_of d' x) with (b_of d x).
    change (zero_terms (factors d')) with (zero_terms (factors d)). change (subtracted (factors d') (index x)) with (subtracted (factors d) (index x)). change (product_limit (factors d')) with (product_limit (factors d)).
    change (product_rounding (factors d')) with (@None rounding). rewrite Zt, zero_as_none, Pr. destruct (fold_left product _ _) as [y| |]; [|split; [reflexivity|intros z E; discriminate E]|split; [reflexivity|intros z E; discriminate E]].
    destruct (match product_limit (factors d) with Some l => _ | None => false end); [split; [reflexivity|intros z E; discriminate E]|].
    destruct (I y eq_refl) as [[Sy Fy] [_ [_ [_ Wy]]]]. split.
    - assert (Sl : sig y < 2 ^ (p o + 1)).
      { apply Z.le_lt_trans with (fst (shape_of tb) * 2 ^ (width tb - snd (shape_of tb))); [|exact Q].
        apply le_IZR. rewrite mult_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp (- width tb)); [apply bpow_gt_0|]. rewrite Rmult_assoc, <- bpow_plus.
        replace (width tb - snd (shape_of tb) + - width tb) with (- snd (shape_of tb)) by lia. eapply Rle_trans; [|exact Fy]. apply Rmult_le_compat_l; [now apply IZR_le|]. apply bpow_le. lia. }
      assert (Ow : is_zero y = false -> emin o <= own_exponent y <= emax o) by (intros Zy; pose proof (own_least tb y I Zy); pose proof (own_most tb y I Zy); lia).
      destruct (fitting_product o y _ Po Sl Sy Ow eq_refl) as [z [E1 E2]]. rewrite E1. exact E2.
    - intros z E. injection E as <-. now apply own_least. }
  assert (M : Forall (made_by d) (ordered d xs)).
  { apply Forall_forall. intros x Hx. pose proof (elements_made d w) as E. rewrite Forall_forall in E. apply E. unfold ordered in Hx. destruct (odd_first d); auto. now apply swapped_incl. }
  assert (Eq : sum_values e (block_products d xs ++ [v]) = sum_values (with_normalise e true) (block_products d' xs ++ [v])).
  { apply led_values with (f := f) (low := grid tb); auto.
    - intros c E. rewrite E in Sv. destruct (decode_num _ _ _ Of (eq_sym Sv)) as [Sc [Fc [Lcc Hcc]]]. split; [lia|]. intros Zc. unfold is_zero in Zc. apply Z.eqb_neq in Zc.
      unfold format_ok in Of. apply andb_prop in Of. destruct Of as [Of _]. apply Z.leb_le in Of. unfold own_exponent, lsb. rewrite Z.abs_eq, Fc by lia.
      assert (Up : Z.log2 (sig c) <= fbits (c_format d)) by (assert (Z.log2 (sig c) < fbits (c_format d) + 1); [apply Z.log2_lt_pow2; lia|lia]).
      destruct Hcc as [Hcc|Hcc]; [left|right; lia]. assert (fbits (c_format d) <= Z.log2 (sig c)); [|lia]. apply Z.log2_le_pow2; lia.
    - unfold block_products. change (ordered d' xs) with (ordered d xs). clear -One M. induction M as [|x l Mx M IH]; cbn [map]; constructor; auto. now apply One.
    - intros x Hx. unfold block_products in Hx. apply in_map_iff in Hx. destruct Hx as [y [E Hy]]. rewrite Forall_forall in M. apply (One y (M y Hy)). exact E. }
  rewrite <- Eq. f_equal. unfold nan_of_block. change (nans d') with (nans d). change (nan_word d') with (nan_word d). destruct (nans d); try discriminate Nw. reflexivity.
Qed.
