(** Sums of groups of products, each an exact sum that is scaled: factors that are normalised before they are multiplied, and
    signs of results that round to zero, where none does. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Odd Stages Trees Groups.
Import ListNotations.
Open Scope Z_scope.

(** * A sum at the unit that another exponent has a part in *)

Definition unit_from (e : option Z) (s : sum) (ts : list num) : Z :=
  match fraction_bits s with None => least_lsb ts | Some f => match omax e (largest s ts) with None => 0 | Some m => m - f end end.

Lemma add_from_at e s vs : add_from e (Stage s) vs = on_numbers (fun ts => sum_at s (Floating (out s)) (unit_from e s ts) ts) vs.
Proof. destruct e; reflexivity. Qed.

Lemma group_result e s vs x : range_ok (out s) = true -> add_from e (Stage s) vs = Num x -> emin (out s) - p (out s) <= lsb x.
Proof.
  intros R E. rewrite add_from_at in E. unfold on_numbers in E. destruct (numbers vs); [|exfalso; now apply (special_not_num vs x)]. now apply convert_grid in E.
Qed.

(** * The same exponent, and as many zeros before the leading bit, or fewer *)

Definition level_num (x y : num) : Prop := finer x y /\ exp y = exp x.
Definition level (v w : val) : Prop :=
  match v, w with Num x, Num y => level_num x y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma level_refl v : level v v.
Proof. destruct v; cbn; auto. split; auto using finer_refl. Qed.

Lemma level_finer v w : level v w -> finer_val v w.
Proof. destruct v, w; cbn; auto. now intros [? _]. Qed.

Lemma level_product v v' w : level v v' -> level (product v w) (product v' w).
Proof.
  intros H. destruct v as [x|s|], v' as [x'|s'|]; try easy; destruct w as [y|t|]; cbn in *; subst; auto.
  - destruct H as [F E]. split; [apply times_finer; auto using finer_refl|cbn; lia].
  - destruct H as [F _]. rewrite (finer_zero _ _ F). destruct F as [-> _]. destruct (is_zero x); cbn; auto.
  - destruct (is_zero y); cbn; auto.
Qed.

Definition exact_add : sum :=
  {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false;
     out := {| rho := RNE; p := 0; emin := 0; emax := 0; overflow := Infinite; flushes := false; tiny := false; zsign := Positive |} |}.

Lemma group_level m ps qs ss : Forall2 finer_val ps qs ->
  level (fst (group_term m ps ss)) (fst (group_term m qs ss)) /\ snd (group_term m qs ss) = snd (group_term m ps ss).
Proof.
  intros H. unfold group_term.
  set (o := match numbers ps with Some _ => _ | None => _ end). set (o' := match numbers qs with Some _ => _ | None => _ end).
  assert (O : level o o').
  { pose proof (finer_numbers _ _ H) as N. unfold o, o'. destruct (numbers ps) as [ts|], (numbers qs) as [us|]; try easy.
    - destruct (counts_finer exact_add ts us eq_refl N) as [k [K [U [C _]]]]. unfold unit_of in U, C. cbn [fraction_bits alignment exact_add] in U, C.
      cbv zeta. rewrite C, zsum_shift. split; [|reflexivity]. split; cbn [neg]; [now apply sign_finer|]. exists k. split; auto. cbn [sig]. split.
      + rewrite Z.abs_mul, (Z.abs_eq (2 ^ k)) by (pose proof (pow_pos k K); lia). reflexivity.
      + unfold lsb. cbn [exp frac]. lia.
    - rewrite (finer_special _ _ H). apply level_refl. }
  assert (F : level (fold_left product ss o) (fold_left product ss o')).
  { clearbody o o'. revert o o' O. induction ss as [|s r IH]; intros o o' O; auto. cbn [fold_left]. apply IH. now apply level_product. }
  rewrite (finer_exists (fun x => match x with Num y => negb (is_zero y) | _ => false end) ps qs); auto.
  2: { intros [x| |] [y| |] Q; try easy. cbn in Q. now rewrite (finer_zero _ _ Q). }
  clearbody o o'. destruct o as [x| |], o' as [x'| |]; try easy.
  destruct O as [Fx _]. rewrite (finer_zero _ _ Fx). destruct (fold_left product ss (Num x)) as [y| |], (fold_left product ss (Num x')) as [y'| |]; try easy; split; auto.
  destruct F as [_ E]. cbn [snd]. now rewrite E.
Qed.

Lemma level_numbers vs ws : Forall2 level vs ws ->
  match numbers vs, numbers ws with Some ts, Some us => Forall2 level_num ts us | None, None => True | _, _ => False end.
Proof.
  intros H. unfold numbers. induction H as [|v w vs ws A H IH]; cbn [forallb map]; [constructor|].
  destruct v as [x| |], w as [y| |]; try easy; cbn [is_num num_of andb]. destruct (forallb is_num vs), (forallb is_num ws); auto.
Qed.

Lemma level_sum e s f vs ws : fraction_bits s = Some f -> Forall2 level vs ws -> add_from e (Stage s) ws = add_from e (Stage s) vs.
Proof.
  intros Fb H. rewrite !add_from_at. unfold on_numbers. pose proof (level_numbers _ _ H) as N.
  assert (Fv : Forall2 finer_val vs ws) by (clear N; induction H; constructor; auto using level_finer).
  destruct (numbers vs) as [ts|], (numbers ws) as [us|]; try easy; [|now apply finer_special].
  assert (Fn : Forall2 finer ts us) by (clear -N; induction N as [|x y ts us [Q _] N IH]; constructor; auto).
  assert (L : largest s us = largest s ts).
  { unfold largest. clear -N. induction N as [|x y ts us [Q E] N IH]; [reflexivity|]. cbn [map fold_right]. rewrite IH. f_equal. unfold term_exponent. rewrite (finer_zero _ _ Q), E.
    destruct (is_zero x) eqn:Z; auto. now rewrite (finer_exponent _ _ Q Z). }
  assert (U : unit_from e s us = unit_from e s ts) by (unfold unit_from; now rewrite Fb, L). rewrite U. unfold sum_at.
  assert (C : map (cut (alignment s) (unit_from e s ts)) us = map (cut (alignment s) (unit_from e s ts)) ts).
  { generalize (unit_from e s ts) as u. intros u. clear -Fn. induction Fn as [|x y ts us Q Fn IH]; [reflexivity|]. cbn [map]. f_equal; [now apply cut_finer|exact IH]. }
  rewrite C. f_equal. unfold sign_of. destruct (forallb_neg _ _ Fn) as [-> [-> ->]]. reflexivity.
Qed.

(** ** Factors *)

Definition group_factors_free (d : design) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) &&
  match cutting_of d, zero_terms (factors d), sums d with
  | Groups _, None, OneSum (Stage s) => match fraction_bits s with Some _ => true | None => false end
  | _, _, _ => false
  end.

(** The terms of groups do not tell whether subnormal factors are normalised before they are multiplied. *)
Theorem group_factors_idle d w : group_factors_free d = true -> pairs w <> [] -> compute d w = compute (with_normalised d false) w.
Proof.
  unfold group_factors_free. intros O N. repeat rewrite andb_true_iff in O. destruct O as [[[On Po] B] O]. apply Z.ltb_lt in B.
  destruct (cutting_of d) as [| |size] eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  destruct (sums d) as [[s|]| | | | | | | |] eqn:S; try discriminate O. destruct (fraction_bits s) as [f|] eqn:Fb; [|discriminate O]. set (d' := with_normalised d false).
  symmetry. apply (compute_alike d d' (fun _ => True)); auto; [repeat split|lia|]. intros b v _ _ _. split; auto.
  unfold block_value. change (skipped d' b) with (skipped d b). destruct (skipped d b); auto.
  change (sums d') with (sums d). change (taken_c d' v) with (taken_c d v). change (ordered d' b) with (ordered d b). rewrite S. cbn [block_sum].
  generalize (ordered d b) as l. intros l.
  assert (Fa : forall r v, finer_val (factor (factors d') r v) (factor (factors d) r v)).
  { intros r u. unfold factor. cbn [factors d' with_normalised normalise_factors]. destruct (normalise_factors (factors d)); auto using normalised_finer, finer_val_refl. }
  assert (T : Forall2 level (fst (terms d' l)) (fst (terms d l)) /\ snd (terms d l) = snd (terms d' l)).
  { unfold terms. change (cutting_of d') with (cutting_of d). change (sums d') with (sums d). rewrite W, S. cbn [fst snd]. rewrite !map_map.
    induction (cut_list (length l) size l) as [|g gs [IH1 IH2]]; cbn [map]; [split; [constructor|reflexivity]|].
    assert (G : Forall2 finer_val (map (fun x => scaled_product (factors d') (a_of d' x) (b_of d' x) (index x) []) g)
                                  (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) []) g)).
    { clear -Fa Zt. induction g as [|x g IH]; cbn [map]; constructor; auto. apply scaled_finer; auto; apply Fa. }
    destruct (group_level (rounding_mode (stage_rounding (Stage s))) _ _ (match g with x :: _ => scaled_by x | [] => [] end) G) as [G1 G2].
    split; [constructor; auto|]. cbn [omax_list]. unfold omax_list in *. cbn [fold_right] in *. now rewrite G2, IH2. }
  destruct T as [T1 T2]. rewrite T2. symmetry. apply level_sum with f; auto. apply Forall2_app; auto. repeat constructor. apply level_refl.
Qed.

(** * Terms that are multiples of a power of two *)

Lemma multiple_times g h x y : multiple g x -> multiple h y -> multiple (g + h) (times x y).
Proof.
  intros [i A] [j C]. unfold multiple. assert (Sg : signed (times x y) = signed x * signed y) by (unfold signed, times; cbn; destruct (neg x), (neg y); cbn; lia).
  rewrite Sg, A, C. replace (i * 2 ^ Z.max 0 (g - lsb x) * (j * 2 ^ Z.max 0 (h - lsb y))) with (i * j * 2 ^ (Z.max 0 (g - lsb x) + Z.max 0 (h - lsb y)))
    by (rewrite Z.pow_add_r by lia; ring).
  apply Z.divide_mul_r, pow_divides. unfold lsb, times. cbn [exp frac]. lia.
Qed.

Lemma sum_multiple m g u ts : Forall (multiple g) ts -> (2 ^ Z.max 0 (g - u) | zsum (map (cut m u) ts)).
Proof.
  induction 1 as [|x l Hx F IH]; [apply Z.divide_0_r|]. unfold zsum in *. cbn [map fold_right]. apply Z.divide_add_r; [now apply round_multiple|exact IH].
Qed.

Lemma numbers_all (P : num -> Prop) vs ts : numbers vs = Some ts -> (forall x, In (Num x) vs -> P x) -> Forall P ts.
Proof.
  intros E H. apply numbers_inv in E. subst vs. apply Forall_forall. intros x Hx. apply H. now apply in_map.
Qed.

Lemma group_multiple g m f ps a b x : format_ok f = true -> (forall y, In (Num y) ps -> multiple g y) ->
  fst (group_term m ps [decode f a; decode f b]) = Num x -> multiple (g + 2 * (least f - fbits f)) x.
Proof.
  intros O Mp. unfold group_term. set (one := match numbers ps with Some _ => _ | None => _ end). cbn [fold_left].
  assert (H : forall y, one = Num y -> multiple g y).
  { unfold one. intros y E. destruct (numbers ps) as [ts|] eqn:N; [|exfalso; now apply (special_not_num ps y)]. injection E as <-.
    unfold multiple. rewrite signed_sum. unfold lsb. cbn [exp frac]. replace (g - (0 - - least_lsb ts)) with (g - least_lsb ts) by lia.
    apply sum_multiple. now apply numbers_all with ps. }
  match goal with |- fst ?t = _ -> _ => assert (F : fst t = product (product one (decode f a)) (decode f b)) end.
  { destruct one; auto. destruct (product (product (Num x0) (decode f a)) (decode f b)); auto. }
  rewrite F. intros P. apply product_num in P. destruct P as [q [r [P1 [P2 ->]]]]. apply product_num in P1. destruct P1 as [o [r' [P3 [P4 ->]]]].
  assert (D : forall w z, decode f w = Num z -> multiple (least f - fbits f) z).
  { intros w z E. destruct (decode_inside f w O z E) as [_ [_ [M _]]]. exact M. }
  replace (g + 2 * (least f - fbits f)) with (g + (least f - fbits f) + (least f - fbits f)) by lia. apply multiple_times; [apply multiple_times|]; eauto.
Qed.

(** * Sums that agree on such terms *)

Definition agree_on (g : Z) (s s' : sum) : Prop :=
  forall e vs, (forall x, In (Num x) vs -> multiple g x) -> add_from e (Stage s') vs = add_from e (Stage s) vs.

(** What the terms of groups, and c, are multiples of. *)
Definition group_grid (d : design) (s : sum) : option Z :=
  match term_bounds (unscaled d), cutting_of d, scales d with
  | Some t, Groups _, Some (f, _) =>
      if format_ok f && one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && format_ok (c_format d) && kept_or_zero (c_rule d) && negb (skips d) &&
         match zero_terms (factors d) with None => true | _ => false end && range_ok (out s)
      then Some (Z.min (grid t + 2 * (least f - fbits f)) (Z.min (least (c_format d) - fbits (c_format d)) (emin (out s) - p (out s)))) else None
  | _, _, _ => None
  end.

Lemma groups_agree d s s' g w : sums d = OneSum (Stage s) -> group_grid d s = Some g -> rho (out s') = rho (out s) -> agree_on g s s' -> pairs w <> [] ->
  compute d w = compute (with_sums d (OneSum (Stage s'))) w.
Proof.
  intros S G Rh A N. unfold group_grid in G. destruct (term_bounds (unscaled d)) as [t|] eqn:T; [|easy]. destruct (cutting_of d) as [| |size] eqn:W; try easy.
  destruct (scales d) as [[f n]|] eqn:Sc; [|easy]. match type of G with (if ?b then _ else _) = _ => destruct b eqn:O; [|easy] end.
  apply (f_equal (fun o => match o with Some z => z | None => 0 end)) in G. cbv beta iota in G.
  repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[Of On] Po] B] Oc] K] Sk] Zt] R]. apply negb_true_iff in Sk. apply Z.ltb_lt in B. destruct (zero_terms (factors d)) eqn:Z0; [easy|]. clear Zt.
  assert (Co : composed d = None) by (unfold parts_ok in Po; rewrite Sc in Po; now destruct (composed d)).
  set (C := fun v => forall x, v = Num x -> multiple g x). symmetry. set (d' := with_sums d _). apply (compute_alike d d' C); auto; [repeat split|lia| |].
  - intros b v _ M Cv. unfold block_value, skipped. change (skips d') with (skips d). rewrite Sk. cbn [andb].
    change (ordered d' b) with (ordered d b). change (taken_c d' v) with (taken_c d v).
    assert (E : terms d' (ordered d b) = terms d (ordered d b)).
    { unfold terms. change (cutting_of d') with (cutting_of d). rewrite W. change (sums d') with (OneSum (Stage s')). rewrite S. cbn [stage_rounding rounding_mode]. now rewrite Rh. }
    rewrite E. change (sums d') with (OneSum (Stage s')). rewrite S. cbn [block_sum].
    set (vs := fst (terms d (ordered d b)) ++ [taken_c d v]). set (e := snd (terms d (ordered d b))).
    assert (Mv : forall x, In (Num x) vs -> multiple g x).
    { intros x Hx. unfold vs in Hx. apply in_app_iff in Hx. destruct Hx as [Hx|[Hx|[]]].
      - unfold terms in Hx. rewrite W in Hx. cbn [fst] in Hx. rewrite map_map in Hx. apply in_map_iff in Hx. destruct Hx as [k [Eg Hk]].
        assert (Mk : Forall (made_by d) k).
        { assert (Fo : Forall (made_by d) (ordered d b)).
          { apply Forall_forall. intros u Hu. rewrite Forall_forall in M. apply M. unfold ordered in Hu. destruct (odd_first d); auto. now apply swapped_incl. }
          pose proof (cut_list_Forall (made_by d) size (length (ordered d b)) _ Fo) as Fc. rewrite Forall_forall in Fc. now apply Fc. }
        destruct k as [|y k]; [cbn in Eg; injection Eg as <-; now apply multiple_zero|].
        assert (My : made_by d y) by now inversion Mk. unfold made_by in My. rewrite Sc in My. destruct My as [a [c My]]. rewrite My in Eg.
        apply (group_multiple (grid t)) in Eg; auto; [apply multiple_le with (2 := Eg); lia|]. intros z Hz. apply in_map_iff in Hz. destruct Hz as [u [Eu _]].
        destruct (term_inside (unscaled d) t (unscaled_element u) T eq_refl z Eu) as [_ [_ [Q _]]]. exact Q.
      - rewrite taken_kept in Hx by auto. unfold flush in Hx. destruct v as [y| |]; try easy. specialize (Cv y eq_refl).
        destruct (negb (is_subnormal y)); [now injection Hx as <-|]. destruct (c_rule d); try easy; injection Hx as <-; auto; now apply multiple_zero. }
    rewrite (A e vs Mv). split; [reflexivity|]. intros x Ex. apply multiple_lsb. pose proof (group_result _ _ _ _ R Ex). lia.
  - intros x Ex. rewrite Co in Ex. unfold start_format in Ex. rewrite Co in Ex. destruct (decode_inside (c_format d) _ Oc x Ex) as [_ [_ [Q _]]].
    apply multiple_le with (2 := Q). cbn [grid format_bounds]. lia.
Qed.

(** ** The exponent of zeros *)

Lemma all_cut m u ts : Forall (multiple u) ts -> (IZR (zsum (map (cut m u) ts)) * bp u = exact_sum ts)%R.
Proof.
  unfold exact_sum. induction 1 as [|x r Hx F IH]; cbn [map]; [cbn; ring|]. change (zsum (?a :: ?l)) with (a + zsum l).
  rewrite Rsum_cons, plus_IZR, Rmult_plus_distr_r, IH, cut_ok, fix_rnd_multiple by exact Hx. reflexivity.
Qed.

Lemma all_cut_zero m u ts : Forall (multiple u) ts -> forallb (Z.eqb 0) (map (cut m u) ts) = forallb is_zero ts.
Proof.
  induction 1 as [|x l Hx F IH]; cbn [map forallb]; auto. rewrite IH. f_equal. destruct (is_zero x) eqn:Hz; [now rewrite cut_zero|].
  assert (N : cut m u x <> 0); [|now destruct (cut m u x)]. intros E. pose proof (cut_ok m u x) as C. rewrite E, fix_rnd_multiple in C by auto. unfold V in C.
  pose proof (bpow_gt_0 radix2 (lsb x)). unfold is_zero in Hz. apply Z.eqb_neq in Hz. assert (N : signed x <> 0) by (unfold signed; destruct (neg x); lia). apply N, eq_IZR. nra.
Qed.

(** ** The sign of a result that rounds to zero *)

Definition no_rounded_zero (g : Z) (s : sum) : bool :=
  match zsign (out s), carry_bits s with SumSign, None => negb (flushes (out s)) && (0 <=? p (out s)) && (emin (out s) - p (out s) <=? g) | _, _ => false end.

Lemma sign_agrees g s : no_rounded_zero g s = true -> agree_on g s (with_out s (with_zero_sign (out s) Positive)).
Proof.
  unfold no_rounded_zero. intros O e vs M. destruct (zsign (out s)) eqn:Zs; [discriminate O|discriminate O|].
  destruct (carry_bits s) eqn:K; [discriminate O|]. repeat rewrite andb_true_iff in O. destruct O as [[F P] G]. apply negb_true_iff in F. apply Z.leb_le in P, G.
  rewrite !add_from_at. unfold on_numbers. destruct (numbers vs) as [ts|] eqn:E; [|reflexivity]. pose proof (numbers_all _ _ _ E M) as Mt. set (s' := with_out s _).
  change (unit_from e s' ts) with (unit_from e s ts). set (u := unit_from e s ts). unfold sum_at, held. change (carry_bits s') with (carry_bits s). change (alignment s') with (alignment s).
  rewrite K. cbn [round_to rounding_mode]. change (rho (out s')) with (rho (out s)). pose proof (sum_multiple (alignment s) g u ts Mt) as Dv. set (n := zsum _) in *. set (t := sign_of _ n ts _).
  unfold convert. cbn [out s' with_out with_zero_sign]. change (last_bit (with_zero_sign (out s) Positive) n u) with (last_bit (out s) n u).
  cbn [rho p emin emax flushes tiny zsign with_zero_sign]. rewrite F. cbn [andb]. rewrite orb_false_r.
  destruct (Z.eqb_spec n 0) as [N|N].
  - rewrite Zs. rewrite N. cbn [Z.eqb negb andb]. reflexivity.
  - assert (R : round_div (rho (out s)) n (last_bit (out s) n u - u) <> 0).
    { apply round_log; auto. unfold last_bit. destruct (Z.eqb_spec n 0); [easy|].
      assert (g <= Z.log2 (Z.abs n) + u); [|lia]. destruct Dv as [q Dv]. assert (q <> 0) by (intros ->; lia).
      assert (Z.max 0 (g - u) <= Z.log2 (Z.abs n)); [|lia]. rewrite <- (Z.log2_pow2 (Z.max 0 (g - u))) by lia. apply Z.log2_le_mono.
      assert (P2 : 0 < 2 ^ Z.max 0 (g - u)) by (apply Z.pow_pos_nonneg; lia). rewrite Dv. revert P2. generalize (2 ^ Z.max 0 (g - u)) as k. intros k Pk.
      rewrite Z.abs_mul, (Z.abs_eq k) by lia. rewrite <- (Z.mul_1_l k) at 1. apply Z.mul_le_mono_nonneg_r; lia. }
    destruct (Z.eqb_spec (round_div (rho (out s)) n (last_bit (out s) n u - u)) 0); [easy|]. reflexivity.
Qed.

Definition group_sign_free (d : design) (s : sum) : bool := match group_grid d s with Some g => no_rounded_zero g s | None => false end.

(** Sums of groups whose terms are multiples of the least result do not round to zero: the sign of such a zero does not matter. *)
Theorem group_sign_idle d s w : sums d = OneSum (Stage s) -> group_sign_free d s = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (OneSum (Stage (with_out s (with_zero_sign (out s) Positive))))) w.
Proof. unfold group_sign_free. intros S O N. destruct (group_grid d s) as [g|] eqn:G; [|easy]. apply groups_agree with s g; auto. now apply sign_agrees. Qed.
