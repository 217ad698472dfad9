(** Products that are rounded to a format wide enough for all of them: what their rounding does with numbers that are too large
    or too small does not matter, nor what the sum does, nor whether terms are normalised before they are aligned. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Odd Stages Trees Accumulated Groups GroupTerms.
Import ListNotations.
Open Scope Z_scope.

(** * A product and its rounding *)

Definition plain_out (c : conversion) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := Infinite; flushes := flushes c; tiny := tiny c; zsign := Positive |}.

Lemma multiple_large g x : multiple g x -> is_zero x = false -> (bp g <= Rabs (V x))%R.
Proof.
  intros [q M] Z. unfold is_zero in Z. apply Z.eqb_neq in Z. assert (N : signed x <> 0) by (unfold signed; destruct (neg x); lia).
  unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)), <- abs_IZR by apply bpow_ge_0.
  set (k := Z.max 0 (g - lsb x)) in *. assert (P : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia).
  assert (L : 2 ^ k <= Z.abs (signed x)) by (rewrite M, Z.abs_mul, (Z.abs_eq (2 ^ k)) by lia; assert (q <> 0) by (intros ->; lia); nia).
  apply Rle_trans with (bp (k + lsb x)); [apply bpow_le; unfold k; lia|]. rewrite bpow_plus, (bp_Z k) by lia.
  apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le].
Qed.

Definition clean (g h : Z) (x : num) : Prop := (Rabs (V x) < bp h)%R /\ (is_zero x = true \/ (g <= exp x /\ own_exponent x = exp x)).

Definition signless (z : zero_sign) : bool := match z with IeeeSign => false | _ => true end.

Lemma rounded_clean c x g t : range_ok c = true -> emin c <= g -> t <= emax c -> flushes c = false -> signless (zsign c) = true ->
  (is_zero x = false -> (bp g <= Rabs (V x))%R) -> (Rabs (V x) <= bp t)%R ->
  round_num (Floating (plain_out c)) x = round_num (Floating c) x /\
  forall z, round_num (Floating c) x = Num z -> clean g (t + 1) z /\ multiple (g - p c) z.
Proof.
  intros O G T F Sg Lo Hi. unfold range_ok in O. apply andb_prop in O. destruct O as [P EM]. apply Z.leb_le in P, EM.
  unfold round_num, round_to. set (n := signed x) in *. set (u := lsb x) in *. change (V x) with (IZR n * bp u)%R in Lo, Hi.
  assert (Zn : is_zero x = (n =? 0)) by (unfold is_zero, n, signed; destruct (neg x), (Z.eqb_spec (sig x) 0), (Z.eqb_spec (- sig x) 0), (Z.eqb_spec (sig x) 0); lia || reflexivity).
  unfold convert. change (last_bit (plain_out c) n u) with (last_bit c n u). cbn [rho p emin emax flushes tiny zsign plain_out overflow]. rewrite F. cbn [andb]. rewrite !orb_false_r.
  set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)). destruct (Z.eqb_spec n 0) as [N|N].
  - assert (R : r = 0) by (unfold r; rewrite N; apply round_div_0). rewrite R. cbn [Z.eqb]. cbn [negb]. destruct (zsign c); try easy; cbn [andb]; (split; [reflexivity|]);
      intros z E; injection E as <-; (split; [split; [rewrite V_zero, Rabs_R0 by reflexivity; apply bpow_gt_0|now left]|now apply multiple_zero]).
  - rewrite Zn in Lo. specialize (Lo eq_refl). set (l := Z.log2 (Z.abs n) + u).
    assert (Bl : (bp l <= Rabs (IZR n * bp u) < bp (l + 1))%R).
    { rewrite Rabs_mult, (Rabs_pos_eq (bp u)), <- abs_IZR by apply bpow_ge_0. destruct (Z.log2_spec (Z.abs n) ltac:(lia)) as [B1 B2]. pose proof (Z.log2_nonneg (Z.abs n)).
      unfold l. replace (Z.log2 (Z.abs n) + u + 1) with (Z.succ (Z.log2 (Z.abs n)) + u) by lia. rewrite !bpow_plus, (bp_Z (Z.log2 (Z.abs n))), (bp_Z (Z.succ (Z.log2 (Z.abs n)))) by lia. pose proof (bpow_gt_0 radix2 u).
      split; [apply Rmult_le_compat_r; [lra|now apply IZR_le]|apply Rmult_lt_compat_r; [lra|now apply IZR_lt]]. }
    assert (Gl : g <= l). { assert (Q : (bp g < bp (l + 1))%R) by lra. apply lt_bpow in Q. lia. }
    assert (Ex : ex = l - p c) by (unfold ex, last_bit; destruct (Z.eqb_spec n 0); [easy|]; fold l; lia).
    assert (R : r <> 0) by (apply round_log; auto; unfold l in *; lia).
    pose proof (round_div_log2 c n u R) as Br. fold ex in Br. fold r in Br. set (own := Z.log2 (Z.abs r) + ex) in *.
    assert (Pg : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
    assert (Fl : (bp l <= Rabs (flt_rnd c (IZR n * bp u)) <= bp t)%R).
    { unfold flt_rnd. split.
      - apply abs_round_ge_generic; auto with typeclass_instances; [|apply Bl]. apply generic_format_bpow. unfold flt, FLT_exp. lia.
      - apply abs_round_le_generic; auto with typeclass_instances. apply generic_format_bpow. unfold flt, FLT_exp.
        assert (l <= t). { assert (Q : (bp l <= bp t)%R) by lra. now apply le_bpow in Q. } lia. }
    assert (Ol : l <= own). { assert (Q : (bp l < bp (own + 1))%R) by lra. apply lt_bpow in Q. lia. }
    assert (Ot : own <= t). { assert (Q : (bp own <= bp t)%R) by lra. now apply le_bpow in Q. }
    destruct (Z.eqb_spec r 0); [easy|]. destruct (Z.ltb_spec (emax c) own); [lia|]. rewrite !Z.max_l by lia. split; [reflexivity|].
    intros z E. injection E as <-. replace (own - ex) with (Z.log2 (Z.abs r)) by (unfold own; lia). split; [split; [|right]|].
    + unfold V, signed, lsb. cbn [neg sig exp frac]. replace (own - Z.log2 (Z.abs r)) with ex by (unfold own; lia).
      assert (Q : (if r <? 0 then - Z.abs r else Z.abs r) = r) by (destruct (Z.ltb_spec r 0); lia). rewrite Q.
      rewrite Rabs_mult, (Rabs_pos_eq (bp ex)), <- abs_IZR by apply bpow_ge_0. destruct (Z.log2_spec (Z.abs r) ltac:(lia)) as [_ B2]. pose proof (Z.log2_nonneg (Z.abs r)).
      apply Rlt_le_trans with (bp (own + 1)); [|apply bpow_le; lia]. unfold own. replace (Z.log2 (Z.abs r) + ex + 1) with (Z.succ (Z.log2 (Z.abs r)) + ex) by lia.
      rewrite bpow_plus, (bp_Z (Z.succ (Z.log2 (Z.abs r)))) by lia. apply Rmult_lt_compat_r; [apply bpow_gt_0|now apply IZR_lt].
    + cbn [exp]. split; [lia|]. unfold own_exponent, lsb. cbn [sig exp frac]. rewrite (Z.abs_eq (Z.abs r)) by lia. unfold own. lia.
    + apply multiple_lsb. unfold lsb. cbn [exp frac]. unfold own. lia.
Qed.

(** * Sums of such products and c *)

(** A number of which no bit is above its leading one: it has a leading 1, or an exponent of at most [l]. *)
Definition settled_below (l : Z) (x : num) : Prop := is_zero x = true \/ own_exponent x = exp x \/ (own_exponent x <= exp x /\ exp x <= l).

Lemma shaped l x : 0 <= sig x < 2 ^ (frac x + 1) -> 0 <= frac x -> (2 ^ frac x <= sig x \/ exp x <= l) -> settled_below l x /\ (Rabs (V x) < bp (exp x + 1))%R.
Proof.
  intros S F E. split.
  - unfold settled_below. destruct (is_zero x) eqn:Z; [now left|right]. unfold is_zero in Z. apply Z.eqb_neq in Z. unfold own_exponent, lsb. rewrite (Z.abs_eq (sig x)) by lia.
    assert (L : Z.log2 (sig x) < frac x + 1) by (apply Z.log2_lt_pow2; lia). destruct E as [E|E]; [left|right; lia].
    assert (frac x <= Z.log2 (sig x)) by (apply Z.log2_le_pow2; lia). lia.
  - apply num_below; [lia| |lia]. assert (Q : (IZR (sig x) < bp (frac x + 1))%R) by (rewrite bp_Z by lia; apply IZR_lt; lia).
    replace 1 with (frac x + 1 + - frac x) at 1 by lia. rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|exact Q].
Qed.

Definition unnormalised (s : sum) : sum :=
  {| fraction_bits := fraction_bits s; alignment := alignment s; zero_exponent := zero_exponent s; carry_bits := carry_bits s; normalise := false; out := out s |}.

Lemma normalise_idle s f g h l us x : fraction_bits s = Some f -> carry_bits s = None ->
  match zero_exponent s with ZeroNone => True | ZeroAt z => z - f <= h | ZeroOwn => False end -> l - f <= h -> l <= g ->
  Forall (fun y => is_zero y = true \/ (g <= exp y /\ own_exponent y = exp y)) us -> settled_below l x -> Forall (multiple h) (us ++ [x]) ->
  sum_numbers (unnormalised s) (us ++ [x]) = sum_numbers s (us ++ [x]).
Proof.
  intros F K Z Lf Lg Cu Cx M. set (d := unnormalised s).
  assert (Tu : largest d us = largest s us).
  { unfold largest. clear -Cu. induction Cu as [|y us Q Cu IH]; [reflexivity|]. cbn [map fold_right]. rewrite IH. f_equal. unfold term_exponent. cbn [normalise zero_exponent d unnormalised].
    destruct Q as [-> | [_ E]]; [reflexivity|]. destruct (is_zero y); auto. destruct (normalise s); [now rewrite E|reflexivity]. }
  assert (Same : omax (largest s us) (term_exponent d x) = omax (largest s us) (term_exponent s x) -> sum_numbers d (us ++ [x]) = sum_numbers s (us ++ [x])).
  { intros E. apply sum_numbers_ext; auto. unfold unit_of. change (fraction_bits d) with (fraction_bits s). rewrite F.
    assert (Q : largest d (us ++ [x]) = largest s (us ++ [x])); [|now rewrite Q].
    rewrite !largest_app, Tu. unfold largest in *. cbn [map fold_right]. destruct (term_exponent d x), (term_exponent s x); cbn [omax] in *; exact E. }
  destruct (is_zero x) eqn:Zx; [apply Same; unfold term_exponent; now rewrite Zx|]. destruct (normalise s) eqn:Nm; [|apply Same; unfold term_exponent; cbn [normalise d unnormalised]; now rewrite Zx, Nm].
  destruct Cx as [Cx|[Cx|[C1 C2]]]; [congruence|apply Same; unfold term_exponent; cbn [normalise d unnormalised]; now rewrite Zx, Nm, Cx|].
  destruct (forallb is_zero us) eqn:Az.
  - apply multiples_agree; auto using no_carry_exact.
    + apply Forall_forall. intros y Hy. rewrite Forall_forall in M. apply multiple_le with h; auto. unfold unit_of. change (fraction_bits d) with (fraction_bits s). rewrite F.
      destruct (largest d (us ++ [x])) as [m|] eqn:Q; [|exfalso; pose proof (largest_none d _ x Q (in_or_app us [x] x (or_intror (or_introl eq_refl)))); congruence].
      destruct (largest_attained d _ m Q) as [y0 [Hy0 Te]]. apply in_app_iff in Hy0. unfold term_exponent in Te. cbn [normalise zero_exponent d unnormalised] in Te. destruct Hy0 as [Hy0|[<-|[]]].
      * rewrite forallb_forall in Az. rewrite (Az y0 Hy0) in Te. destruct (zero_exponent s); try easy. injection Te as <-. lia.
      * rewrite Zx in Te. injection Te as <-. lia.
    + apply Forall_forall. intros y Hy. rewrite Forall_forall in M. apply multiple_le with h; auto. unfold unit_of. rewrite F.
      destruct (largest s (us ++ [x])) as [m|] eqn:Q; [|exfalso; pose proof (largest_none s _ x Q (in_or_app us [x] x (or_intror (or_introl eq_refl)))); congruence].
      destruct (largest_attained s _ m Q) as [y0 [Hy0 Te]]. apply in_app_iff in Hy0. unfold term_exponent in Te. destruct Hy0 as [Hy0|[<-|[]]].
      * rewrite forallb_forall in Az. rewrite (Az y0 Hy0) in Te. destruct (zero_exponent s); try easy. injection Te as <-. lia.
      * rewrite Zx, Nm in Te. injection Te as <-. lia.
  - apply Same. assert (exists y, In y us /\ is_zero y = false) as [y [Hy Ny]].
    { clear -Az. induction us as [|a r IHr]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *; [destruct IHr as [y [? ?]]; auto; exists y; auto|exists a; auto]. }
    pose proof (largest_in s us y Hy) as I. rewrite Forall_forall in Cu. destruct (Cu y Hy) as [Q|[Q1 Q2]]; [congruence|].
    unfold term_exponent in I |- *. cbn [normalise d unnormalised]. rewrite Ny, Nm in I. rewrite Zx, Nm. destruct (largest s us) as [a|]; [|easy]. cbn [ole] in I. cbn [omax]. f_equal. lia.
Qed.

Definition plain_sum (s : sum) : sum := with_out (unnormalised s) (plain_out (out s)).

Lemma plain_sum_ok s f g h k l n us x : fraction_bits s = Some f -> carry_bits s = None -> alignment s = RZ -> range_ok (out s) = true -> flushes (out s) = false ->
  signless (zsign (out s)) = true -> match zero_exponent s with ZeroNone => True | ZeroAt z => z - f <= h | ZeroOwn => False end -> 0 <= f -> l - f <= h -> l <= g ->
  emin (out s) - p (out s) <= h -> (IZR (2 ^ f + n) * bp k <= max_of (out s))%R -> Z.of_nat (length us) <= n ->
  Forall (clean g k) us -> settled_below l x -> Forall (multiple h) (us ++ [x]) -> (Rabs (V x) <= max_of (out s))%R -> (Rabs (V x) < bp (exp x + 1))%R ->
  sum_numbers (plain_sum s) (us ++ [x]) = sum_numbers s (us ++ [x]).
Proof.
  intros F K A R Fl Sg Z F0 Lf Lg Le B N Cu Cx M Mx Ex. pose proof R as R'. unfold range_ok in R'. apply andb_prop in R'. destruct R' as [P EM]. apply Z.leb_le in P, EM.
  assert (Cs : Forall (fun y => is_zero y = true \/ (g <= exp y /\ own_exponent y = exp y)) us) by (clear -Cu; induction Cu as [|y r [_ Q] Cu IH]; constructor; auto).
  rewrite <- (normalise_idle s f g h l us x F K Z Lf Lg Cs Cx M). set (d := unnormalised s).
  set (e := with_out d (with_overflow (out d) Infinite)).
  assert (E1 : sum_numbers e (us ++ [x]) = sum_numbers d (us ++ [x])).
  { unfold sum_numbers. change (total e (us ++ [x])) with (total d (us ++ [x])). change (unit_of e (us ++ [x])) with (unit_of d (us ++ [x])).
    change (counts e (us ++ [x])) with (counts d (us ++ [x])). cbn [out e with_out]. change (rho (with_overflow (out d) Infinite)) with (rho (out d)).
    apply any_overflow; auto. apply (total_within d f k n); auto. clear -Cu. induction Cu as [|y r [Q _] Cu IH]; constructor; auto. }
  rewrite <- E1. assert (Pe : plain_sum s = with_out e (with_zero_sign (out e) Positive)) by reflexivity. rewrite Pe.
  destruct (zsign (out s)) eqn:Zs; [|discriminate Sg|].
  - assert (Q : with_zero_sign (out e) Positive = out e) by (unfold with_zero_sign; cbn [out e with_out d unnormalised with_overflow]; unfold with_overflow; cbn; rewrite Zs; reflexivity). rewrite Q. reflexivity.
  - pose proof (sign_agrees h e) as S. unfold no_rounded_zero in S. change (zsign (out e)) with (zsign (out s)) in S. change (carry_bits e) with (carry_bits s) in S.
    change (flushes (out e)) with (flushes (out s)) in S. change (p (out e)) with (p (out s)) in S. change (emin (out e)) with (emin (out s)) in S. rewrite Zs, K, Fl in S. cbn [negb andb] in S.
    assert (O : (0 <=? p (out s)) && (emin (out s) - p (out s) <=? h) = true) by (apply andb_true_intro; split; apply Z.leb_le; lia). specialize (S O None (map Num (us ++ [x]))).
    cbn [add_from add] in S. rewrite !sum_values_num in S. apply S. intros y Hy. apply in_map_iff in Hy. destruct Hy as [y' [Q Hy]]. injection Q as ->. rewrite Forall_forall in M. auto.
Qed.

(** * Designs *)

(** A decoded number does not exceed the largest one of a conversion that has all numbers of the format. *)
Lemma decode_within o f w x : codes_ok f = true -> fbits f <= p o -> highest f <= emax o -> decode f w = Num x -> (Rabs (V x) <= max_of o)%R.
Proof.
  intros Ck L1 L2 D. unfold codes_ok in Ck. apply andb_prop in Ck. destruct Ck as [Of Ef]. apply Z.leb_le in Ef.
  pose proof (decode_high f w x Of Ef D) as Hh. destruct (decode_num _ _ _ Of D) as [Sg [Fr _]].
  assert (Ab : Rabs (V x) = (IZR (sig x) * bp (lsb x))%R).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg x); lia. }
  rewrite Ab. unfold lsb. rewrite Fr. unfold format_ok in Of. apply andb_prop in Of. destruct Of as [Of _]. apply Z.leb_le in Of.
  set (k := p o - fbits f). assert (K0 : 0 <= k) by (unfold k; lia).
  apply Rle_trans with (IZR ((2 ^ (fbits f + 1) - 1) * 2 ^ k) * bp (emax o - p o))%R.
  - rewrite mult_IZR, <- (bp_Z k), Rmult_assoc, <- bpow_plus by lia. apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. unfold k. lia.
  - unfold max_of. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. rewrite Z.mul_sub_distr_r, <- Z.pow_add_r by lia.
    replace (fbits f + 1 + k) with (p o + 1) by (unfold k; lia). pose proof (pow2_pos k K0). lia.
Qed.

Definition rounded_free (d : design) : bool :=
  match product_rounding (factors d), sums d, cutting_of d, exact_bounds d, scales d, composed d with
  | Some (Floating c), OneSum (Stage s), Whole, Some b, None, None =>
      match fraction_bits s, carry_bits s, alignment s, c_rule d, zero_terms (factors d), product_limit (factors d) with
      | Some f, None, RZ, Kept, None, None =>
          let o := out s in let t := ceiling b in let l := Z.max (least (c_format d)) (emin o) in
          let h := Z.min (grid b - p c) (Z.min (least (c_format d) - fbits (c_format d)) (emin o - p o)) in
          one_nan d && (0 <? Z.of_nat (block d)) && negb (skips d) && range_ok c && range_ok o && negb (flushes c) && negb (flushes o) &&
          signless (zsign c) && signless (zsign o) && (emin c <=? grid b) && (t <=? emax c) && (0 <=? f) && (l - f <=? h) && (l <=? grid b) &&
          match zero_exponent s with ZeroNone => true | ZeroAt z => z - f <=? h | ZeroOwn => false end && (emin o - p o <=? h) &&
          codes_ok (c_format d) && (fbits (c_format d) <=? p o) && (highest (c_format d) <=? emax o) &&
          (0 <=? emax o - (t + 1)) && (2 ^ f + Z.of_nat (block d) <=? 2 ^ (emax o - (t + 1)))
      | _, _, _, _, _, _ => false
      end
  | _, _, _, _, _, _ => false
  end.

Definition with_rounding (q : product_rule) (c : conversion) : product_rule :=
  {| of_a := of_a q; of_b := of_b q; normalise_factors := normalise_factors q; exponent_step := exponent_step q; zero_terms := zero_terms q;
     odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := Some (Floating c) |}.

Definition rounded_plain (d : design) : design :=
  match product_rounding (factors d), sums d with
  | Some (Floating c), OneSum (Stage s) =>
      {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
         converted := converted d; factors := with_rounding (factors d) (plain_out c); cutting_of := cutting_of d; block := block d;
         odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := OneSum (Stage (plain_sum s)); nan_word := nan_word d;
         nans := nans d; composed := composed d |}
  | _, _ => d
  end.

(** Where products fit into what they are rounded to, terms may as well be taken as they are, and too large or too small numbers
    as most units have them. *)
Theorem rounded_terms_idle d w : rounded_free d = true -> pairs w <> [] -> compute d w = compute (rounded_plain d) w.
Proof.
  unfold rounded_free, rounded_plain. intros O N. destruct (product_rounding (factors d)) as [[c|]|] eqn:Pr; [|discriminate O|discriminate O].
  destruct (sums d) as [[s|]| | | | | | | |] eqn:S; try discriminate O. destruct (cutting_of d) eqn:W; try discriminate O.
  destruct (exact_bounds d) as [b|] eqn:T; [|discriminate O]. destruct (scales d) eqn:Sc; [discriminate O|]. destruct (composed d) eqn:Co; [discriminate O|].
  destruct (fraction_bits s) as [f|] eqn:F; [|discriminate O]. destruct (carry_bits s) eqn:K; [discriminate O|]. destruct (alignment s) eqn:A; try discriminate O.
  destruct (c_rule d) eqn:Cr; try discriminate O. destruct (zero_terms (factors d)) eqn:Zt; [discriminate O|]. destruct (product_limit (factors d)) eqn:Pl; [discriminate O|].
  cbv zeta in O. set (o := out s) in *. set (t := ceiling b) in *. set (l := Z.max (least (c_format d)) (emin o)) in *.
  set (h := Z.min (grid b - p c) _) in *. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[[[[[[[[[[On B] Sk] Rc] Ro] Fc] Fo] Sgc] Sgo] G] Tm] F0] Lh] Lg] Z] Le] Ck] Fb] Hi] Ep] Bd].
  apply negb_true_iff in Sk, Fc, Fo. apply Z.ltb_lt in B. apply Z.leb_le in G, Tm, F0, Lh, Lg, Le, Fb, Hi, Ep, Bd.
  pose proof Ro as Ro'. unfold range_ok in Ro'. apply andb_prop in Ro'. destruct Ro' as [P EM]. apply Z.leb_le in P, EM. pose proof (max_between o P) as [Mb _].
  set (d' := Build_design _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _).
  assert (Products : forall q, made_by d q -> term d' q = term d q /\ forall z, term d q = Num z -> clean (grid b) (t + 1) z /\ multiple h z).
  { intros q M. destruct (exact_inside d b q T M) as [_ I]. unfold term. change (factors d') with (with_rounding (factors d) (plain_out c)).
    change (a_of d' q) with (a_of d q). change (b_of d' q) with (b_of d q). unfold scaled_product.
    cbn [zero_terms product_limit product_rounding with_rounding]. rewrite Zt, !zero_as_none, Pl, Pr. cbv zeta.
    change (subtracted (with_rounding (factors d) (plain_out c)) (index q)) with (subtracted (factors d) (index q)).
    destruct (fold_left product (scaled_by q) _) as [x| |] eqn:E; try (split; [reflexivity|intros z H; discriminate H]).
    destruct (rounded_clean c x (grid b) t Rc G Tm Fc Sgc) as [Q1 Q2].
    - intros Nz. apply multiple_large; auto. now destruct (I x eq_refl) as [_ [_ [Q _]]].
    - now apply num_ceiling.
    - split; [exact Q1|]. intros z Hz. destruct (Q2 z Hz) as [C1 C2]. split; auto. apply multiple_le with (2 := C2). unfold h. lia. }
  set (C := fun v => forall x, v = Num x -> ((Rabs (V x) <= max_of o)%R /\ (Rabs (V x) < bp (exp x + 1))%R) /\ settled_below l x /\ multiple h x).
  symmetry. apply (compute_alike d d' C); auto; [repeat split; now rewrite ?Sc, ?Co|lia| | |].
  - intros bl v Lb Me Cv. unfold block_value, skipped. change (skips d') with (skips d). rewrite Sk. cbn [andb].
    change (sums d') with (OneSum (Stage (plain_sum s))). rewrite S. cbn [block_sum]. unfold terms. change (cutting_of d') with Whole. rewrite W. cbn [fst snd add_from add].
    assert (Tc : forall e, e = d \/ e = d' -> taken_c e v = v).
    { intros e E. rewrite taken_kept by (destruct E as [-> | ->]; exact Zt). destruct E as [-> | ->]; [rewrite Cr|change (c_rule d') with Kept]; apply flush_kept. }
    rewrite !Tc by auto. change (ordered d' bl) with (ordered d bl).
    assert (Mo : Forall (made_by d) (ordered d bl)).
    { apply Forall_forall. intros u Hu. rewrite Forall_forall in Me. apply Me. unfold ordered in Hu. destruct (odd_first d); auto. now apply swapped_incl. }
    change (map (fun q => scaled_product (factors d') (a_of d' q) (b_of d' q) (index q) (scaled_by q)) (ordered d bl)) with (map (term d') (ordered d bl)).
    change (map (fun q => scaled_product (factors d) (a_of d q) (b_of d q) (index q) (scaled_by q)) (ordered d bl)) with (map (term d) (ordered d bl)).
    assert (Eq : map (term d') (ordered d bl) = map (term d) (ordered d bl)) by (apply map_ext_in; intros q Hq; rewrite Forall_forall in Mo; now apply Products, Mo). rewrite Eq.
    assert (R : C (sum_values s (map (term d) (ordered d bl) ++ [v]))).
    { intros x Hx. unfold sum_values in Hx. destruct (numbers _); [|exfalso; now apply (special_not_num _ x Hx)]. unfold sum_numbers in Hx.
      destruct (convert_shape _ _ _ _ _ P EM Hx) as [[E1 E2] Sh]. pose proof (convert_within _ _ _ _ _ P EM Hx) as Wi. pose proof (convert_grid _ _ _ _ _ Ro Hx) as Gr.
      assert (Q : settled_below l x /\ (Rabs (V x) < bp (exp x + 1))%R).
      { assert (D : 2 ^ (p o + 1 + 1) = 2 * 2 ^ (p o + 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia). pose proof (pow2_pos (p o + 1) ltac:(lia)).
        apply shaped; destruct Sh as [[Fx [Sx Ex]]|[Fx Sx]]; rewrite Fx; [lia|lia|lia|lia|destruct Ex; [right; unfold l; lia|now left]|left; lia]. }
      destruct Q as [Q1 Q2]. repeat split; auto. apply multiple_lsb. fold o in Gr. lia. }
    split; [|exact R]. unfold sum_values. destruct (numbers (map (term d) (ordered d bl) ++ [v])) as [ts|] eqn:Nu; auto.
    destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ec Eu]]]]. destruct (Cv x Ec) as [[C1 C2] [C3 C4]].
    assert (Cu : Forall (fun y => clean (grid b) (t + 1) y /\ multiple h y) us).
    { apply Forall_forall. intros y Hy. assert (I : In (Num y) (map (term d) (ordered d bl))) by (rewrite Eu; now apply in_map).
      apply in_map_iff in I. destruct I as [q [Eq' Hq]]. rewrite Forall_forall in Mo. now apply (proj2 (Products q (Mo q Hq))). }
    apply (plain_sum_ok s f (grid b) h (t + 1) l (Z.of_nat (block d))); auto.
    + destruct (zero_exponent s); auto; [discriminate Z|now apply Z.leb_le in Z].
    + eapply Rle_trans; [|exact Mb]. replace (emax o) with (emax o - (t + 1) + (t + 1)) by lia. rewrite (bpow_plus radix2 (emax o - (t + 1)) (t + 1)), (bp_Z (emax o - (t + 1))) by lia.
      apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia.
    + assert (Q : length us = length (ordered d bl)) by (rewrite <- (map_length (term d)), Eu; now rewrite map_length). rewrite Q. unfold ordered. destruct (odd_first d); rewrite ?swapped_length; lia.
    + clear -Cu. induction Cu as [|y r [Q _] Cu IH]; constructor; auto.
    + apply Forall_app. split; [clear -Cu; induction Cu as [|y r [_ Q] Cu IH]; constructor; auto|repeat constructor; auto].
  - unfold parts_ok. now rewrite Co.
  - intros x Ex. rewrite Co in Ex. unfold start_format in Ex. rewrite Co in Ex. pose proof Ck as Ck'. unfold codes_ok in Ck'. apply andb_prop in Ck'. destruct Ck' as [Of _].
    destruct (decode_num _ _ _ Of Ex) as [Sx [Fx _]]. destruct (decode_inside (c_format d) _ Of x Ex) as [_ [_ [Mx [Ux _]]]].
    assert (F1 : 0 <= fbits (c_format d)) by (unfold format_ok in Of; apply andb_prop in Of; destruct Of as [Of _]; now apply Z.leb_le in Of).
    assert (Q : settled_below l x /\ (Rabs (V x) < bp (exp x + 1))%R).
    { unfold under, low_sig in Ux. cbn [low_upto upto format_bounds] in Ux. rewrite Fx in Ux.
      apply shaped; rewrite Fx; [lia|lia|]. destruct (Z.ltb_spec (sig x) (2 ^ fbits (c_format d))); [right; rewrite orb_true_r in Ux; unfold l; lia|now left]. }
    destruct Q as [Q1 Q2]. repeat split; auto; [now apply (decode_within o (c_format d) (c_word w))|]. apply multiple_le with (2 := Mx). cbn [grid format_bounds]. unfold h. lia.
Qed.
