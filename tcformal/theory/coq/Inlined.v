(** Sums in trees whose results are exact: their operands may as well be operands of the sum that they are in.  Products that share
    their block scales are compared with each other only: what is known of them is known for each exponent of the scales. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Odd Stages TreeForms StepNans.
Import ListNotations.
Open Scope Z_scope.

(** * Products and the exponent of their scales *)

Definition scale_bounds (f : format) (e : Z) : bounds :=
  {| shape_of := number_shape (fbits f); lowest := e; grid := e - fbits f; upto := e; low_upto := e; width := fbits f |}.

Lemma scale_known f w : format_ok f = true -> exists e, least f <= e <= format_top f /\ inside (scale_bounds f e) (decode f w).
Proof.
  intros O. destruct (decode f w) as [x| |] eqn:D.
  - destruct (decode_num _ _ _ O D) as [_ [F [L _]]]. pose proof (decode_top _ _ _ O D) as T. exists (exp x). split; [lia|].
    intros y E. injection E as <-. split; [|split; [|split; [|split]]]; cbn.
    + apply decode_fits with f w; auto. lia.
    + lia.
    + apply multiple_lsb. unfold lsb. lia.
    + unfold under. cbn. destruct (low_sig x); lia.
    + lia.
  - exists (least f). split; [unfold format_top; lia|intros y E; discriminate E].
  - exists (least f). split; [unfold format_top; lia|intros y E; discriminate E].
Qed.

(** Products of [t] times two scales whose exponents add up to [e]. *)
Definition scaled_bounds (t : bounds) (f : format) (e : Z) : bounds := times_bounds (times_bounds t (scale_bounds f e)) (scale_bounds f 0).

Lemma scaled_sum t f a b : times_bounds (times_bounds t (scale_bounds f a)) (scale_bounds f b) = scaled_bounds t f (a + b).
Proof. unfold scaled_bounds, times_bounds, top_of. cbn. f_equal; lia. Qed.

Definition scale_exponents (f : format) : list Z :=
  map (fun i => 2 * least f + Z.of_nat i) (seq 0 (Z.to_nat (2 * (format_top f - least f) + 1))).

Lemma scale_exponents_in f a b : least f <= a <= format_top f -> least f <= b <= format_top f -> In (a + b) (scale_exponents f).
Proof.
  intros A B. apply in_map_iff. exists (Z.to_nat (a + b - 2 * least f)). split; [lia|]. apply in_seq. lia.
Qed.

Definition without_scales (d : design) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := None;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := sums d; nan_word := nan_word d; nans := nans d; composed := composed d |}.

(** One product, from the element of a block. *)
Definition element_product (d : design) (x : element) : val := scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x).

Lemma scaled_inside d tb f a b : exact_bounds (without_scales d) = Some tb -> product_rounding (factors d) = None -> format_ok f = true ->
  exists e, In e (scale_exponents f) /\ forall x, scaled_by x = [decode f a; decode f b] -> inside (scaled_bounds tb f e) (element_product d x).
Proof.
  intros T R O. destruct (scale_known f a O) as [i [I A]]. destruct (scale_known f b O) as [j [J B]]. exists (i + j).
  split; [now apply scale_exponents_in|]. intros x E. rewrite <- scaled_sum.
  destruct (exact_inside (without_scales d) tb {| index := index x; a_word := a_word x; b_word := b_word x; scaled_by := [] |} T eq_refl) as [Zt P].
  cbn [scaled_by fold_left index] in P. change (factors (without_scales d)) with (factors d) in *.
  change (a_of (without_scales d) {| index := index x; a_word := a_word x; b_word := b_word x; scaled_by := [] |}) with (a_of d x) in P.
  change (b_of (without_scales d) {| index := index x; a_word := a_word x; b_word := b_word x; scaled_by := [] |}) with (b_of d x) in P.
  unfold element_product, scaled_product. rewrite Zt, zero_as_none, R, E. cbv zeta. cbn [fold_left].
  pose proof (times_inside _ _ _ _ (times_inside _ _ _ _ P A) B) as Q.
  destruct (product _ (decode f b)) as [y| |]; try (intros z H; easy).
  match goal with |- inside _ (if ?o then _ else _) => destruct o end; [intros z H; easy|exact Q].
Qed.

(** Products of one scale each side. *)
Definition of_one_scale (n : nat) (l : list steps) : bool :=
  match l with
  | Product j :: _ => forallb (fun x => match x with Product k => Nat.eqb (k / n)%nat (j / n)%nat | _ => false end) l
  | _ => false
  end.

Definition all_products (l : list steps) : bool := forallb (fun x => match x with Product _ => true | _ => false end) l.

(** What is known of some products: one case of all of them. *)
Definition term_cases (d : design) (l : list steps) : list bounds :=
  match scales d, product_rounding (factors d), exact_bounds (without_scales d) with
  | Some (f, n), None, Some tb =>
      if format_ok f && of_one_scale n l then map (scaled_bounds tb f) (scale_exponents f) else match term_bounds d with Some t => [t] | None => [] end
  | _, _, _ => match term_bounds d with Some t => [t] | None => [] end
  end.

(** * Exact sums *)

(** Operands with the exponents of their leading bits, where a sum takes these. *)
Definition led (e : sum) (v : val) : val := if normalise e then on_num lead v else v.
Definition led_bounds (e : sum) (bs : list bounds) : list bounds := if normalise e then map lead_bounds bs else bs.

Lemma led_values e vs : sum_values (with_normalise e false) (map (led e) vs) = sum_values e vs.
Proof.
  unfold led. destruct (normalise e) eqn:N; [now apply lead_values|]. rewrite map_id. f_equal. destruct e. cbn in *. now subst.
Qed.

Lemma led_covered e bs vs : negb (normalise e) || shapes_ok bs = true -> covered bs vs -> covered (led_bounds e bs) (map (led e) vs).
Proof. unfold led, led_bounds. destruct (normalise e); cbn [negb orb]; intros Sh C; [now apply lead_covered|now rewrite map_id]. Qed.

(** The sign of a zero sum of nothing but exact operands. *)
Definition is_down (m : mode) : bool := match m with RD => true | _ => false end.
Definition signed_zero (down : bool) (ts : list num) : bool :=
  if forallb is_zero ts && (forallb neg ts || forallb (fun x => negb (neg x)) ts) then existsb neg ts else down.

Lemma numbers_are vs ts : numbers vs = Some ts -> vs = map Num ts.
Proof.
  unfold numbers. destruct (forallb is_num vs) eqn:N; [|easy]. intros H. injection H as <-. induction vs as [|v vs IH]; [reflexivity|]. cbn in N. destruct v; try easy. cbn. now rewrite <- IH.
Qed.

Lemma led_numbers e vs ts : numbers vs = Some ts ->
  exists us, numbers (map (led e) vs) = Some us /\ exact_sum us = exact_sum ts /\ forall down, signed_zero down us = signed_zero down ts.
Proof.
  intros H. rewrite (numbers_are vs ts H). unfold led. destruct (normalise e); [|rewrite map_id; exists ts; split; [apply numbers_map|auto]].
  exists (map lead ts). rewrite map_map. cbn [on_num]. rewrite <- (map_map lead Num), numbers_map. split; [reflexivity|]. clear. split.
  - unfold exact_sum. f_equal. rewrite map_map. apply map_ext. intros x. destruct (lead_lsb x) as [A [B _]]. unfold V. now rewrite A, B.
  - intros down. unfold signed_zero.
    assert (F : forall q, (forall x, q (lead x) = q x) -> forallb q (map lead ts) = forallb q ts) by (intros q Q; induction ts as [|x l IH]; cbn; [reflexivity|]; now rewrite Q, IH).
    assert (G : existsb neg (map lead ts) = existsb neg ts) by (induction ts as [|x l IH]; cbn; [reflexivity|]; destruct (lead_lsb x) as [_ [_ [-> _]]]; f_equal; apply IH; intros q Q; clear -Q; induction l as [|y l IHl]; cbn; [reflexivity|]; now rewrite Q, IHl).
    rewrite G, !F; auto; intros x; destruct (lead_lsb x) as [_ [_ [C D]]]; congruence.
Qed.

(** The sum cuts nothing off and is a number of its result's format. *)
Definition whole_sum (bs : list bounds) (e : sum) : bool :=
  let o := out e in let cs := led_bounds e bs in let d := exact_of e in
  let g := Z.min (least_of grid cs) (emax o - p o) in let m := least_magnitude cs d in
  (negb (normalise e) || shapes_ok bs) && idle_sum (false, false) cs (with_normalise e false) d &&
  range_ok o && negb (flushes o) && shapes_ok cs && (emin o - p o <=? g) && (g <=? m) &&
  (all_magnitudes cs d * 2 ^ (m - g) <=? 2 ^ (p o + 1) - 1).

Lemma convert_generic c s n u : range_ok c = true -> flushes c = false -> generic_format radix2 (flt c) (IZR n * bp u) -> (Rabs (IZR n * bp u) <= max_of c)%R ->
  exists y, convert c s n u = Num y /\ V y = (IZR n * bp u)%R /\ (zsign c = IeeeSign -> n = 0 -> neg y = s).
Proof.
  intros R Fl G A. unfold range_ok in R. apply andb_prop in R. destruct R as [P M]. apply Z.leb_le in P, M.
  assert (Q : flt_rnd c (IZR n * bp u) = (IZR n * bp u)%R) by (unfold flt_rnd; apply round_generic; auto with typeclass_instances).
  pose proof (round_ok c n u) as Ro. cbv zeta in Ro. rewrite Q in Ro. unfold convert. rewrite Fl. cbn [andb]. rewrite orb_false_r. set (r := round_div _ _ _) in *.
  destruct (Z.eqb_spec r 0) as [Z|Z].
  { eexists. split; [reflexivity|]. split; [|intros -> _; reflexivity]. rewrite Z, Rmult_0_l in Ro. rewrite <- Ro. apply V_zero. reflexivity. }
  pose proof (not_large c n u P M A) as Nl. cbv zeta in Nl. fold r in Nl. specialize (Nl Z).
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + last_bit c n u)); [lia|]. eexists. split; [reflexivity|]. split.
  - rewrite <- Ro. unfold V, signed, lsb. cbn [neg sig exp frac].
    replace (if r <? 0 then - Z.abs r else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia). do 2 f_equal. lia.
  - intros _ ->. exfalso. rewrite Rmult_0_l in Ro. apply Rmult_integral in Ro. destruct Ro as [Ro|Ro]; [now apply eq_IZR in Ro|].
    pose proof (bpow_gt_0 radix2 (last_bit c 0 u)). lra.
Qed.

Lemma grid_count n u g : (2 ^ Z.max 0 (g - u) | n) -> exists m, (IZR n * bp u = IZR m * bp g)%R.
Proof.
  intros [k E]. destruct (Z.le_gt_cases g u) as [L|L].
  - exists (n * 2 ^ (u - g)). rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
  - exists k. rewrite E, Z.max_r, mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
Qed.

(** A value for the operands of a sum: their special values' sum, or a number of their exact sum; of a zero the sign is theirs, where
    signs are seen. *)
Definition sum_for (seen down : bool) (v : val) (us : list val) : Prop :=
  match numbers us with
  | Some ts => exists y, v = Num y /\ V y = exact_sum ts /\ (seen = true -> is_zero y = true -> neg y = signed_zero down ts)
  | None => v = special_sum us
  end.

Lemma zero_value x : V x = 0%R -> is_zero x = true.
Proof.
  unfold V. intros H. apply Rmult_integral in H. destruct H as [H|H]; [|pose proof (bpow_gt_0 radix2 (lsb x)); lra]. apply eq_IZR in H. unfold is_zero, signed in *.
  apply Z.eqb_eq. destruct (neg x); lia.
Qed.

Lemma exact_sign d ts : fraction_bits d = None -> sign_of (rho (out d)) 0 ts (counts d ts) = signed_zero (is_down (rho (out d))) ts.
Proof.
  intros F. unfold sign_of, signed_zero. cbn [Z.eqb negb]. rewrite (multiples_zero d ts (exact_multiples d ts F)). reflexivity.
Qed.

Definition ieee_zeros (c : conversion) : bool := match zsign c with IeeeSign => true | _ => false end.

(** The same sum, of which the modes do not matter: nothing is cut off, rounded or too large. *)
Definition plain_out (o : conversion) : conversion :=
  {| rho := if ieee_zeros o && is_down (rho o) then RD else RNE; p := p o; emin := emin o; emax := emax o; overflow := Infinite; flushes := false; tiny := false;
     zsign := if ieee_zeros o then IeeeSign else Positive |}.
Definition plain_whole (e : sum) : sum := with_out (exact_of e) (plain_out (out e)).

Lemma convert_plain c s t n u : range_ok c = true -> flushes c = false -> generic_format radix2 (flt c) (IZR n * bp u) -> (Rabs (IZR n * bp u) <= max_of c)%R ->
  (ieee_zeros c = true -> n = 0 -> s = t) -> convert c s n u = convert (plain_out c) t n u.
Proof.
  intros R Fl G A St. pose proof R as R'. unfold range_ok in R'. apply andb_prop in R'. destruct R' as [P M]. apply Z.leb_le in P, M.
  assert (Q : forall d, flt d = flt c -> flt_rnd d (IZR n * bp u) = (IZR n * bp u)%R) by (intros d Fd; unfold flt_rnd; rewrite Fd; apply round_generic; auto with typeclass_instances).
  pose proof (round_ok c n u) as Ro. cbv zeta in Ro. rewrite (Q c eq_refl) in Ro. pose proof (round_ok (plain_out c) n u) as Rp. cbv zeta in Rp. rewrite (Q (plain_out c) eq_refl) in Rp.
  change (last_bit (plain_out c) n u) with (last_bit c n u) in Rp. set (ex := last_bit c n u) in *.
  assert (E : round_div (rho (plain_out c)) n (ex - u) = round_div (rho c) n (ex - u)).
  { apply eq_IZR, (Rmult_eq_reg_r (bp ex)); [congruence|]. pose proof (bpow_gt_0 radix2 ex). lra. }
  unfold convert. change (last_bit (plain_out c) n u) with (last_bit c n u). fold ex. rewrite E, Fl. change (flushes (plain_out c)) with false. cbn [andb]. rewrite !orb_false_r.
  change (emin (plain_out c)) with (emin c). change (emax (plain_out c)) with (emax c). change (p (plain_out c)) with (p c).
  pose proof (not_large c n u P M A) as Nl. cbv zeta in Nl. fold ex in Nl. set (r := round_div (rho c) n (ex - u)) in *.
  destruct (Z.eqb_spec r 0) as [Z|Z]; [|specialize (Nl Z); destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)); [lia|reflexivity]].
  assert (N0 : n = 0).
  { rewrite Z, Rmult_0_l in Ro. symmetry in Ro. apply Rmult_integral in Ro. destruct Ro as [Ro|Ro]; [now apply eq_IZR in Ro|pose proof (bpow_gt_0 radix2 u); lra]. }
  f_equal. f_equal. change (zsign (plain_out c)) with (if ieee_zeros c then IeeeSign else Positive). rewrite N0. unfold ieee_zeros in *. destruct (zsign c); cbn in *; auto.
Qed.

Lemma whole_ok bs e vs : whole_sum bs e = true -> covered bs vs -> sum_for (ieee_zeros (out e)) (is_down (rho (out e))) (sum_values e vs) vs /\ sum_values (plain_whole e) vs = sum_values e vs.
Proof.
  unfold whole_sum. cbv zeta. set (o := out e). set (cs := led_bounds e bs). set (d := exact_of e) in *. set (g := Z.min _ _). set (m := least_magnitude _ _). intros O C.
  repeat rewrite andb_true_iff in O. destruct O as [[[[[[[Sb Cn] R] Fl] Sh] Gl] Gm] M]. apply negb_true_iff in Fl. apply Z.leb_le in Gl, Gm, M.
  pose proof (led_covered e bs vs Sb C) as Cl. fold cs in Cl.
  assert (E0 : sum_values e vs = sum_values d (map (led e) vs)) by (rewrite <- led_values; symmetry; exact (idle_sum_ok _ _ _ _ _ Cn Cl (no_plus_zero _))).
  unfold sum_for. destruct (numbers vs) as [ts|] eqn:En; [|unfold sum_values; now rewrite En]. rewrite E0.
  destruct (led_numbers e vs ts En) as [us [Eu [Es Sz]]]. rewrite <- Es. unfold sum_values. rewrite Eu. unfold sum_numbers. change (out d) with o. set (n := total d us). set (u := unit_of d us).
  assert (E : (IZR n * bp u)%R = exact_sum us) by (apply total_value; reflexivity). rewrite <- E.
  pose proof (sum_magnitude cs d _ us eq_refl eq_refl Sh ltac:(intros H; now elim H) Cl Eu) as B. fold n u m in B.
  pose proof (total_grid cs d _ us eq_refl Cl Eu) as D. change (sum_grid cs d) with (least_of grid cs) in D. fold n u in D.
  destruct (grid_count n u g) as [k K]. { eapply Z.divide_trans; [|exact D]. apply pow_divides. lia. }
  assert (Bk : Z.abs k <= 2 ^ (p o + 1) - 1).
  { apply Z.le_trans with (all_magnitudes cs d * 2 ^ (m - g)); [|exact M]. apply le_IZR. rewrite abs_IZR, mult_IZR, <- bp_Z by lia.
    apply Rmult_le_reg_r with (bp g); [apply bpow_gt_0|]. rewrite Rmult_assoc, <- bpow_plus. replace (m - g + g) with m by lia.
    rewrite K, Rabs_mult, (Rabs_pos_eq (bp g)) in B by apply bpow_ge_0. exact B. }
  pose proof R as R'. unfold range_ok in R'. apply andb_prop in R'. destruct R' as [P _]. apply Z.leb_le in P.
  assert (Gf : generic_format radix2 (flt o) (IZR n * bp u)).
  { rewrite K. apply generic_format_FLT. exists (Float radix2 k g); [reflexivity| |cbn; lia]. cbn [Fnum]. change (Zpower radix2 (p o + 1)) with (2 ^ (p o + 1)). lia. }
  assert (Gm' : (Rabs (IZR n * bp u) <= max_of o)%R).
  { rewrite K, Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR by apply bpow_ge_0. unfold max_of.
    apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|now apply IZR_le|apply bpow_le; lia]. }
  destruct (convert_generic o (sign_of (rho o) n us (counts d us)) n u R Fl Gf Gm') as [y [Cy [Vy Ny]]]. split.
  - exists y. split; [exact Cy|]. split; [exact Vy|]. intros Se Zy. rewrite (V_zero y Zy) in Vy.
    assert (N0 : n = 0) by (symmetry in Vy; apply Rmult_integral in Vy; destruct Vy as [Vy|Vy]; [now apply eq_IZR in Vy|pose proof (bpow_gt_0 radix2 u); lra]).
    rewrite (Ny ltac:(unfold ieee_zeros in Se; destruct (zsign o); easy) N0), N0, <- Sz. exact (exact_sign d us eq_refl).
  - set (d' := plain_whole e). rewrite En. unfold sum_numbers. change (out d') with (plain_out o).
    assert (E' : (IZR (total d' ts) * bp (unit_of d' ts) = IZR n * bp u)%R) by (rewrite E, Es; apply total_value; reflexivity).
    rewrite (convert_plain o (sign_of (rho o) n us (counts d us)) (sign_of (rho (plain_out o)) (total d' ts) ts (counts d' ts)) n u R Fl Gf Gm').
    + symmetry. apply convert_ext; auto.
    + intros Iz N0. assert (N0' : total d' ts = 0).
      { rewrite N0, Rmult_0_l in E'. apply Rmult_integral in E'. destruct E' as [E'|E']; [now apply eq_IZR in E'|pose proof (bpow_gt_0 radix2 (unit_of d' ts)); lra]. }
      rewrite N0, N0'. change (rho o) with (rho (out d)) at 1. rewrite exact_sign by reflexivity. change (plain_out o) with (out d'). rewrite exact_sign, Sz by reflexivity.
      change (out d) with o. change (out d') with (plain_out o). unfold plain_out. cbn [rho]. rewrite Iz. cbn [andb]. now destruct (rho o).
Qed.

(** * Operands in the place of their sum *)

Section Spread.
Variables seen down : bool.

Inductive spread : list val -> list val -> Prop :=
  | spread_none : spread [] []
  | spread_same v vs ws : spread vs ws -> spread (v :: vs) (v :: ws)
  | spread_sum v us vs ws : us <> [] -> sum_for seen down v us -> spread vs ws -> spread (v :: vs) (us ++ ws).

Lemma exact_app a b : exact_sum (a ++ b) = (exact_sum a + exact_sum b)%R.
Proof. unfold exact_sum. induction a as [|x a IH]; cbn [app map Rsum fold_right] in *; [unfold Rsum; cbn; ring|]. unfold Rsum in *. cbn [fold_right]. rewrite IH. ring. Qed.

Lemma numbers_both a b : numbers (a ++ b) = match numbers a, numbers b with Some x, Some y => Some (x ++ y) | _, _ => None end.
Proof. unfold numbers. rewrite forallb_app, map_app. destruct (forallb is_num a), (forallb is_num b); reflexivity. Qed.

(** Nothing but -0, and nothing but +0. *)
Definition minus_zeros (ts : list num) : bool := forallb (fun x => is_zero x && neg x) ts.
Definition plus_zeros (ts : list num) : bool := forallb (fun x => is_zero x && negb (neg x)) ts.

Lemma signed_zero_is ts : signed_zero down ts = if minus_zeros ts then negb (plus_zeros ts) else negb (plus_zeros ts) && down.
Proof.
  unfold signed_zero. assert (A : minus_zeros ts = forallb is_zero ts && forallb neg ts).
  { unfold minus_zeros. induction ts as [|x ts IH]; [reflexivity|]. cbn [forallb]. rewrite IH. destruct (is_zero x), (neg x), (forallb is_zero ts), (forallb neg ts); reflexivity. }
  assert (B : plus_zeros ts = forallb is_zero ts && forallb (fun x => negb (neg x)) ts).
  { clear A. unfold plus_zeros. induction ts as [|x ts IH]; [reflexivity|]. cbn [forallb]. rewrite IH. destruct (is_zero x), (neg x), (forallb is_zero ts), (forallb _ ts); reflexivity. }
  assert (E : existsb neg ts = negb (forallb (fun x => negb (neg x)) ts)).
  { clear. induction ts as [|x ts IH]; [reflexivity|]. cbn. rewrite IH. destruct (neg x); reflexivity. }
  rewrite A, B, E. destruct (forallb is_zero ts), (forallb neg ts), (forallb _ ts); reflexivity.
Qed.

Lemma zeros_value ts : minus_zeros ts = true \/ plus_zeros ts = true -> exact_sum ts = 0%R.
Proof.
  intros H. assert (Z : forallb is_zero ts = true).
  { destruct H as [H|H]; unfold minus_zeros, plus_zeros in H; rewrite forallb_forall in *; intros x Hx; specialize (H x Hx); now apply andb_prop in H. }
  clear H. unfold exact_sum, Rsum. induction ts as [|x ts IH]; [reflexivity|]. cbn in *. apply andb_prop in Z. destruct Z as [Zx Z]. rewrite (V_zero x Zx), IH by auto. ring.
Qed.

Lemma some_zeros ts : ts <> [] -> minus_zeros ts = true -> plus_zeros ts = false.
Proof. destruct ts as [|x ts]; [easy|]. cbn. intros _. destruct (is_zero x), (neg x); easy. Qed.

Lemma spread_numbers vs ws : spread vs ws ->
  match numbers vs, numbers ws with
  | Some ts, Some us => exact_sum us = exact_sum ts /\ (seen = true ->
      minus_zeros us = minus_zeros ts /\ plus_zeros us = plus_zeros ts \/
      minus_zeros us = false /\ plus_zeros us = false /\ (if down then plus_zeros ts else minus_zeros ts) = false)
  | None, None => True
  | _, _ => False
  end.
Proof.
  induction 1 as [|v vs ws H IH|v us vs ws Ne S H IH]; [split; [reflexivity|intros _; left; split; reflexivity]| |].
  - change (v :: vs) with ([v] ++ vs). change (v :: ws) with ([v] ++ ws). rewrite !numbers_both. destruct v as [x| |]; [|exact I|exact I]. change (numbers [Num x]) with (Some [x]).
    destruct (numbers vs) as [ts|], (numbers ws) as [us|]; try easy. destruct IH as [E Z]. split; [rewrite !exact_app; now rewrite E|]. intros Se. specialize (Z Se).
    cbn [app minus_zeros plus_zeros forallb] in *. unfold minus_zeros, plus_zeros in *. cbn [forallb].
    destruct Z as [[-> ->]|[-> [-> Z]]]; [left; auto|right]. rewrite !andb_false_r. destruct down; rewrite Z, andb_false_r; auto.
  - change (v :: vs) with ([v] ++ vs). rewrite !numbers_both. unfold sum_for in S. destruct (numbers us) as [tu|] eqn:Nu.
    + destruct S as [y [-> [Vy Sy]]]. change (numbers [Num y]) with (Some [y]). destruct (numbers vs) as [ts|], (numbers ws) as [ws'|]; try easy. destruct IH as [E Z].
      split; [rewrite !exact_app, E, <- Vy; unfold exact_sum at 2, Rsum; cbn; ring|]. intros Se. specialize (Z Se). specialize (Sy Se). rewrite signed_zero_is in Sy.
      assert (Nt : tu <> []) by (intros ->; apply Ne; unfold numbers in Nu; destruct (forallb is_num us); [|easy]; destruct us; easy).
      pose proof (zeros_value tu) as Zv. pose proof (some_zeros tu Nt) as Oz. pose proof (zero_value y) as Yz. rewrite Vy in Yz.
      assert (Ma : forall a b, minus_zeros (a ++ b) = minus_zeros a && minus_zeros b) by (intros; apply forallb_app).
      assert (Pa : forall a b, plus_zeros (a ++ b) = plus_zeros a && plus_zeros b) by (intros; apply forallb_app). rewrite !Ma, !Pa.
      change (minus_zeros [y]) with (is_zero y && neg y && true). change (plus_zeros [y]) with (is_zero y && negb (neg y) && true).
      clear -Z Sy Zv Oz Yz. destruct (minus_zeros tu), (plus_zeros tu).
      * specialize (Oz eq_refl). discriminate Oz.
      * rewrite (Yz (Zv (or_introl eq_refl))) in *. rewrite (Sy eq_refl). cbn. destruct Z as [[Z1 Z2]|[Z1 [Z2 Z3]]]; rewrite ?Z1, ?Z2; [left; auto|right]. destruct down; rewrite ?Z3; auto.
      * rewrite (Yz (Zv (or_intror eq_refl))) in *. rewrite (Sy eq_refl). cbn. destruct Z as [[Z1 Z2]|[Z1 [Z2 Z3]]]; rewrite ?Z1, ?Z2; [left; auto|right]. destruct down; rewrite ?Z3; auto.
      * right. cbn. destruct (is_zero y); [rewrite (Sy eq_refl)|]; destruct down; cbn; auto.
    + destruct v as [y| |]; [exfalso; now apply (special_not_num us y)| |]; exact I.
Qed.

Definition a_nan (v : val) : bool := match v with NaN => true | _ => false end.
Definition a_plus (v : val) : bool := match v with Inf false => true | _ => false end.
Definition a_minus (v : val) : bool := match v with Inf true => true | _ => false end.

Lemma special_is vs : special_sum vs =
  if existsb a_nan vs || existsb a_plus vs && existsb a_minus vs then NaN else Inf (existsb a_minus vs).
Proof.
  unfold special_sum. change (fun v => match v with NaN => true | _ => false end) with a_nan.
  change (fun v => match v with Inf false => true | _ => false end) with a_plus. change (fun v => match v with Inf true => true | _ => false end) with a_minus.
  destruct (existsb a_nan vs), (existsb a_plus vs), (existsb a_minus vs); reflexivity.
Qed.

Lemma no_specials us : forallb is_num us = true -> existsb a_nan us = false /\ existsb a_plus us = false /\ existsb a_minus us = false.
Proof. induction us as [|[x|[]|] us IH]; cbn; auto; intros H; easy. Qed.

Lemma some_special us : forallb is_num us = false -> existsb a_nan us = false -> existsb a_plus us = false -> existsb a_minus us = true.
Proof. induction us as [|[x|[]|] us IH]; cbn; auto; intros H; easy. Qed.

Lemma spread_special vs ws : spread vs ws -> special_sum ws = special_sum vs.
Proof.
  intros H. rewrite !special_is.
  assert (Q : (existsb a_nan ws || existsb a_plus ws && existsb a_minus ws) = (existsb a_nan vs || existsb a_plus vs && existsb a_minus vs) /\
    ((existsb a_nan vs || existsb a_plus vs && existsb a_minus vs) = false -> existsb a_plus ws = existsb a_plus vs /\ existsb a_minus ws = existsb a_minus vs)).
  { induction H as [|v vs ws H IH|v us vs ws Ne S H IH]; [auto| |].
    - cbn [existsb]. destruct (a_nan v), (a_plus v), (a_minus v), (existsb a_nan vs), (existsb a_plus vs), (existsb a_minus vs), (existsb a_nan ws), (existsb a_plus ws), (existsb a_minus ws);
        cbn in *; intuition congruence.
    - cbn [existsb]. rewrite !existsb_app. unfold sum_for, numbers in S. destruct (forallb is_num us) eqn:N.
      + destruct S as [y [-> _]]. destruct (no_specials us N) as [-> [-> ->]]. exact IH.
      + pose proof (some_special us N) as Sp. rewrite special_is in S.
        destruct (existsb a_nan us), (existsb a_plus us), (existsb a_minus us); cbn in S, Sp; try (specialize (Sp eq_refl eq_refl); discriminate Sp); subst v; cbn [a_nan a_plus a_minus];
          destruct (existsb a_nan vs), (existsb a_plus vs), (existsb a_minus vs), (existsb a_nan ws), (existsb a_plus ws), (existsb a_minus ws); cbn in *; intuition congruence. }
  destruct Q as [Q1 Q2]. rewrite Q1. destruct (existsb a_nan vs || _) eqn:E; [reflexivity|]. now destruct (Q2 eq_refl) as [_ ->].
Qed.

End Spread.

(** Whether a sum sees of the sums among its operands their values alone, and what signs zeros have. *)
Definition joins (s : stage) (e : sum) : bool :=
  match s with
  | Stage d => none (fraction_bits d) && (unseen_sign (out d) || ieee_zeros (out e) && Bool.eqb (is_down (rho (out d))) (is_down (rho (out e))))
  | _ => false
  end.

Lemma add_spread d vs ws : fraction_bits d = None -> spread (negb (unseen_sign (out d))) (is_down (rho (out d))) vs ws -> add (Stage d) ws = add (Stage d) vs.
Proof.
  intros Fb H. cbn [add]. unfold sum_values. pose proof (spread_numbers _ _ _ _ H) as N.
  destruct (numbers vs) as [ts|], (numbers ws) as [us|]; try easy; [|now apply (spread_special _ _ _ _ H)]. destruct N as [Ex Sg].
  unfold sum_numbers.
  assert (E : (IZR (total d us) * bp (unit_of d us) = IZR (total d ts) * bp (unit_of d ts))%R) by now rewrite !total_value by exact Fb.
  assert (Sn : total d us <> 0 \/ unseen_sign (out d) = false -> sign_of (rho (out d)) (total d us) us (counts d us) = sign_of (rho (out d)) (total d ts) ts (counts d ts)).
  { intros Q. pose proof (scaled_zero _ _ _ _ E) as Z0. pose proof (scaled_neg _ _ _ _ E) as Ng. destruct (Z.eqb_spec (total d us) 0) as [Zu|Zu].
    - destruct Q as [Q|Q]; [easy|]. rewrite Q in Sg. specialize (Sg eq_refl). destruct (Z.eqb_spec (total d ts) 0) as [Zt|Zt]; [|discriminate Z0].
      rewrite Zu, Zt, !exact_sign, !signed_zero_is by exact Fb. destruct Sg as [[-> ->]|[-> [-> Sg]]]; [reflexivity|]. cbn. destruct (is_down _); rewrite Sg; cbn; [now destruct (minus_zeros ts)|now destruct (plus_zeros ts)].
    - assert (Zt : total d ts <> 0) by (intros Q0; rewrite Q0 in Z0; discriminate Z0).
      unfold sign_of. rewrite (proj2 (Z.eqb_neq _ _) Zu), (proj2 (Z.eqb_neq _ _) Zt). cbn [negb]. congruence. }
  destruct (unseen_sign (out d)) eqn:U.
  - rewrite (convert_unseen _ _ (sign_of (rho (out d)) (total d ts) ts (counts d ts))); auto. now apply convert_ext.
  - rewrite Sn by auto. now apply convert_ext.
Qed.

(** * Trees *)

Section Inlined.
(** Whether the sum of some operands is exact. *)
Variable whole : sum -> list steps -> bool.

(** Operands of exact sums in the place of these where a sum sees them alone, in the order of k; other exact sums at plain values. *)
Definition expanded (inlined : steps -> steps) (s : stage) (x : steps) : list steps :=
  match x with
  | Step (Stage e) m => if whole e m then if joins s e then m else [Step (Stage (plain_whole e)) m] else [inlined x]
  | Step _ _ => [inlined x]
  | _ => [x]
  end.
Fixpoint inlined (t : steps) : steps := match t with Step s l => Step s (TreeForms.placed (flat_map (expanded inlined s) l)) | _ => t end.

Variables (ps : list val) (c : val).
Hypothesis Whole_ok : forall e m, whole e m = true -> m <> [] /\ all_products m = true /\
  sum_for (ieee_zeros (out e)) (is_down (rho (out e))) (sum_values e (map (eval_steps Kept ps c) m)) (map (eval_steps Kept ps c) m) /\
  sum_values (plain_whole e) (map (eval_steps Kept ps c) m) = sum_values e (map (eval_steps Kept ps c) m).

Lemma products_operands s m : all_products m = true -> map (operand_of c ps s) m = map (eval_steps Kept ps c) m.
Proof. intros A. apply map_ext_in. intros x Hx. unfold all_products in A. rewrite forallb_forall in A. specialize (A x Hx). now destruct x. Qed.

Lemma inlined_same t : eval_steps Kept ps c (inlined t) = eval_steps Kept ps c t.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; try reflexivity. cbn [inlined eval_steps].
  change (add s (map (operand_of c ps s) (TreeForms.placed (flat_map (expanded inlined s) l))) = add s (map (operand_of c ps s) l)).
  rewrite (add_perm s _ _ (Permutation_map (operand_of c ps s) (TreeForms.placed_perm _))).
  assert (One : forall x, eval_steps Kept ps c (inlined x) = eval_steps Kept ps c x -> operand_of c ps s (inlined x) = operand_of c ps s x).
  { intros x E. unfold operand_of. rewrite E. destruct x; reflexivity. }
  assert (Other : forall x, eval_steps Kept ps c (inlined x) = eval_steps Kept ps c x ->
    match x with Step (Stage e) m => joins s e && whole e m = false | _ => True end -> map (operand_of c ps s) (expanded inlined s x) = [operand_of c ps s x]).
  { intros x Hx J. destruct x as [k| | |[e|] m]; cbn [expanded map]; rewrite ?(One _ Hx); try reflexivity. destruct (whole e m) eqn:W; [|cbn [map]; now rewrite (One _ Hx)].
    rewrite andb_true_r in J. rewrite J. cbn [map]. f_equal. destruct (Whole_ok e m W) as [_ [A [_ E]]]. unfold operand_of. rewrite !flush_kept. cbn [eval_steps add].
    change (map _ m) with (map (operand_of c ps (Stage (plain_whole e))) m) at 1. rewrite (products_operands _ m A).
    change (map (fun x => _) m) with (map (operand_of c ps (Stage e)) m). rewrite (products_operands (Stage e) m A). exact E. }
  assert (Same : (forall e, joins s e = false) -> add s (map (operand_of c ps s) (flat_map (expanded inlined s) l)) = add s (map (operand_of c ps s) l)).
  { intros J. f_equal. induction IH as [|x l Hx IH IHl]; [reflexivity|]. cbn [flat_map]. rewrite map_app, IHl, Other; auto. destruct x as [| | |[e|] m]; auto. now rewrite J. }
  destruct s as [d|]; [|now apply Same]. destruct (fraction_bits d) as [f|] eqn:Fb; [apply Same; intros e; cbn [joins]; now rewrite Fb|]. clear Same.
  apply add_spread; auto. induction IH as [|x l Hx IH IHl]; [constructor|]. cbn [flat_map]. rewrite map_app. cbn [map].
  destruct (match x with Step (Stage e) m => joins (Stage d) e && whole e m | _ => false end) eqn:W.
  - destruct x as [| | |[e|] m]; try discriminate W. apply andb_prop in W. destruct W as [J W]. cbn [expanded]. rewrite W, J. cbn [joins] in J. rewrite Fb in J. cbn [none andb] in J.
    destruct (Whole_ok e m W) as [Ne [A [S _]]]. rewrite (products_operands (Stage d) m A). constructor; auto; [intros Q; apply Ne; now destruct m|]. unfold operand_of. rewrite flush_kept. cbn [eval_steps add].
    change (map _ m) with (map (operand_of c ps (Stage e)) m) at 1. rewrite (products_operands (Stage e) m A).
    unfold sum_for in *. destruct (numbers _); [|exact S]. destruct S as [y [Ey [Vy Ny]]]. exists y. split; [exact Ey|]. split; [exact Vy|]. intros Se Zy. apply negb_true_iff in Se. rewrite Se in J. cbn [orb] in J.
    apply andb_prop in J. destruct J as [J1 J2]. apply eqb_prop in J2. rewrite J2. auto.
  - rewrite Other; auto; [cbn [app]; now constructor|]. destruct x as [| | |[e|] m]; auto.
Qed.
End Inlined.

(** * From words to words *)

Definition whole_step (d : design) (e : sum) (m : list steps) : bool :=
  match m with [] => false | _ => true end && all_products m && negb (match term_cases d m with [] => true | _ => false end) && forallb (fun b => whole_sum (repeat b (length m)) e) (term_cases d m).

Definition inlined_sums (d : design) : option summation :=
  match sums d, cutting_of d, composed d, nans d, c_rule d with
  | InSteps (Step s l), Whole, None, OneWord, Kept =>
      if (0 <? Z.of_nat (block d)) && negb (skips d) && negb (odd_first d) then Some (InSteps (inlined (whole_step d) (Step s l))) else None
  | _, _, _, _, _ => None
  end.

Lemma numbered_nth {A} (l : list A) i k x : nth_error (numbered i l) k = Some x -> fst x = (i + k)%nat.
Proof.
  revert i k. induction l as [|a l IH]; intros i [|k] H; cbn in H; try easy; [injection H as <-; cbn; lia|]. apply IH in H. lia.
Qed.

(** The scales of product k. *)
Lemma element_scales d w f n k x : scales d = Some (f, n) -> nth_error (elements d w) k = Some x ->
  scaled_by x = [decode f (fst (nth (k / n) (scale_words w) (0, 0))); decode f (snd (nth (k / n) (scale_words w) (0, 0)))].
Proof.
  intros S H. unfold elements in H. rewrite nth_error_map in H. destruct (nth_error (numbered 0 (pairs w)) k) as [[i [a b]]|] eqn:E; [|easy]. apply numbered_nth in E. cbn in E. subst i.
  injection H as <-. cbn [scaled_by]. now rewrite S.
Qed.

Lemma product_at d w k : odd_first d = false ->
  nth k (block_products d (elements d w)) NaN = match nth_error (elements d w) k with Some x => element_product d x | None => NaN end.
Proof.
  intros O. unfold block_products, ordered. rewrite O. fold (element_product d). change (map _ (elements d w)) with (map (element_product d) (elements d w)).
  destruct (nth_error (elements d w) k) as [x|] eqn:E.
  - apply nth_error_nth. now apply map_nth_error.
  - apply nth_overflow. rewrite map_length. now apply nth_error_None.
Qed.

Lemma term_cases_hold d w c m : odd_first d = false -> all_products m = true -> term_cases d m <> [] ->
  exists b, In b (term_cases d m) /\ Forall (inside b) (map (eval_steps Kept (block_products d (elements d w)) c) m).
Proof.
  intros Od A. assert (Plain : forall t, term_bounds d = Some t -> Forall (inside t) (map (eval_steps Kept (block_products d (elements d w)) c) m)).
  { intros t T. apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. unfold all_products in A. rewrite forallb_forall in A. specialize (A x Hx).
    destruct x as [k| | |]; try easy. cbn [eval_steps]. apply product_inside. apply products_inside; auto. apply elements_made. }
  assert (Else : match term_bounds d with Some t => [t] | None => [] end <> [] ->
    exists b, In b match term_bounds d with Some t => [t] | None => [] end /\ Forall (inside b) (map (eval_steps Kept (block_products d (elements d w)) c) m)).
  { destruct (term_bounds d) as [t|]; [|easy]. intros _. exists t. split; [now left|auto]. }
  unfold term_cases. destruct (scales d) as [[f n]|] eqn:S; auto. destruct (product_rounding (factors d)) eqn:R; auto. destruct (exact_bounds (without_scales d)) as [tb|] eqn:T; auto.
  destruct (format_ok f && of_one_scale n m) eqn:O; auto. intros _. apply andb_prop in O. destruct O as [O One].
  unfold of_one_scale in One. destruct m as [|[j| | |] r] eqn:Em; try easy. rewrite <- Em in *. set (s := nth (j / n) (scale_words w) (0, 0)).
  destruct (scaled_inside d tb f (fst s) (snd s) T R O) as [e [He I]]. exists (scaled_bounds tb f e). split; [now apply in_map|].
  apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. rewrite forallb_forall in One. specialize (One x Hx).
  destruct x as [k| | |]; try easy. cbn [eval_steps]. rewrite product_at by exact Od. destruct (nth_error (elements d w) k) as [x|] eqn:E; [|intros z H; easy].
  apply I. rewrite (element_scales d w f n k x S E). apply Nat.eqb_eq in One. now rewrite One.
Qed.

(** The operands of exact sums of products in the place of these, or these sums at plain values. *)
Theorem inlined_idle d how w : inlined_sums d = Some how -> length (pairs w) = block d -> compute d w = compute (with_sums d how) w.
Proof.
  unfold inlined_sums. intros O L. destruct (sums d) as [| | | | | | | |[| | |s l]] eqn:S; try discriminate O. destruct (cutting_of d) eqn:Wc; try discriminate O.
  destruct (composed d) eqn:Co; [discriminate O|]. destruct (nans d) eqn:Nw; try discriminate O. destruct (c_rule d) eqn:Kr; try discriminate O.
  destruct (_ && _) eqn:G in O; [|discriminate O]. repeat rewrite andb_true_iff in G. destruct G as [[B Sk] Od]. apply Z.ltb_lt in B. apply negb_true_iff in Sk, Od.
  set (t := inlined (whole_step d) (Step s l)) in O. assert (Eh : how = InSteps t) by congruence. assert (Bn : (0 < block d)%nat) by lia.
  rewrite (one_block d w Sk Wc Co Bn L), (one_block (with_sums d how) w Sk Wc Co Bn L). change (elements (with_sums d how) w) with (elements d w).
  change (c_format (with_sums d how)) with (c_format d). change (d_format (with_sums d how)) with (d_format d). change (start_of (with_sums d how) (c_word w)) with (start_of d (c_word w)).
  unfold step_with. cbv zeta. rewrite S. change (sums (with_sums d how)) with how.
  change (block_products (with_sums d how) (elements d w)) with (block_products d (elements d w)). change (c_rule (with_sums d how)) with (c_rule d). rewrite Kr.
  match goal with |- context [taken_c (with_sums d how) ?v] => change (taken_c (with_sums d how) v) with (taken_c d v); set (c := taken_c d v) end.
  set (ps := block_products d (elements d w)).
  assert (E : eval_steps Kept ps c t = eval_steps Kept ps c (Step s l)).
  { apply inlined_same. intros e m W. unfold whole_step in W. repeat rewrite andb_true_iff in W. destruct W as [[[Nm A] Ne] W]. split; [now destruct m|]. split; [exact A|].
    destruct (term_cases_hold d w c m Od A) as [b [Hb I]]; [intros Q; now rewrite Q in Ne|]. rewrite forallb_forall in W. apply whole_ok with (repeat b (length m)); [now apply W|].
    apply covered_all. rewrite <- (map_length (eval_steps Kept ps c) m). now apply inside_repeat. }
  assert (Bs : forall fs, block_sum how Kept None fs ps c = eval_steps Kept ps c (Step s l)) by (intros fs; rewrite Eh; exact E).
  rewrite Bs. cbn [block_sum]. destruct (is_nan _); cbn [negb]; [|reflexivity]. unfold nan_of_block. change (nans (with_sums d how)) with (nans d). rewrite Nw.
  rewrite Eh. reflexivity.
Qed.
