(** Trees of sums that see the values of their operands alone: the order of operands, a sum of one product that is rounded to
    itself, and the sign of a rounded product that is zero do not matter. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Odd Stages.
Import ListNotations.
Open Scope Z_scope.

(** * Sums of the same values *)

Definition same_value (v w : val) : Prop :=
  match v, w with Num x, Num y => V x = V y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma same_value_refl v : same_value v v.
Proof. now destruct v. Qed.

(** Nothing is cut off, and no sign of a zero is seen. *)
Definition sees_values (s : stage) : bool := match s with Stage d => none (fraction_bits d) && unseen_sign (out d) | _ => false end.

Lemma same_numbers vs ws : Forall2 same_value vs ws ->
  match numbers vs, numbers ws with Some ts, Some us => Forall2 (fun x y => V x = V y) ts us | None, None => True | _, _ => False end.
Proof.
  intros H. unfold numbers. induction H as [|v w vs ws A H IH]; cbn [forallb map]; [constructor|].
  destruct v as [x| |], w as [y| |]; try easy; cbn [is_num num_of andb]. destruct (forallb is_num vs), (forallb is_num ws); auto.
Qed.

Lemma same_exists (q : val -> bool) vs ws : (forall v w, same_value v w -> q w = q v) -> Forall2 same_value vs ws -> existsb q ws = existsb q vs.
Proof. intros Q. induction 1; cbn; auto. erewrite Q by eauto. congruence. Qed.

Lemma same_special vs ws : Forall2 same_value vs ws -> special_sum ws = special_sum vs.
Proof.
  intros H. unfold special_sum.
  rewrite (same_exists (fun v => match v with NaN => true | _ => false end) vs ws); auto; [|intros [] []; easy].
  rewrite (same_exists (fun v => match v with Inf false => true | _ => false end) vs ws); auto; [|intros [|[]|] [|[]|]; easy].
  rewrite (same_exists (fun v => match v with Inf true => true | _ => false end) vs ws); auto. intros [|[]|] [|[]|]; easy.
Qed.

Lemma total_value d ts : fraction_bits d = None -> (IZR (total d ts) * bp (unit_of d ts) = exact_sum ts)%R.
Proof.
  intros F. assert (T : total d ts = zsum (counts d ts)) by (unfold total; rewrite F; now destruct (carry_bits d)). rewrite T. now apply multiples_total, exact_multiples.
Qed.

Lemma add_same s vs ws : sees_values s = true -> Forall2 same_value vs ws -> add s ws = add s vs.
Proof.
  unfold sees_values. destruct s as [d|]; [|easy]. intros O H. apply andb_prop in O. destruct O as [F U]. assert (Fb : fraction_bits d = None) by now destruct (fraction_bits d).
  cbn [add]. unfold sum_values. pose proof (same_numbers _ _ H) as N. destruct (numbers vs) as [ts|], (numbers ws) as [us|]; try easy; [|now apply same_special].
  unfold sum_numbers.
  assert (E : (IZR (total d us) * bp (unit_of d us) = IZR (total d ts) * bp (unit_of d ts))%R).
  { rewrite !total_value by exact Fb. unfold exact_sum. f_equal. clear -N. induction N as [|x y ts us Q N IH]; [reflexivity|]. cbn [map]. now rewrite Q, IH. }
  rewrite (convert_unseen _ _ (sign_of (rho (out d)) (total d ts) ts (counts d ts))); auto; [now apply convert_ext|].
  intros Nz. unfold sign_of. rewrite (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E) in *. rewrite <- (scaled_zero _ _ _ _ E). now destruct (Z.eqb_spec (total d us) 0).
Qed.

(** * A sum of one number that is rounded to itself *)

Definition fits_in (o : conversion) (v : val) : Prop := forall x, v = Num x -> generic_format radix2 (flt o) (V x) /\ (Rabs (V x) <= max_of o)%R.

Lemma alone_same d v : fraction_bits d = None -> flushes (out d) = false -> range_ok (out d) = true -> fits_in (out d) v -> same_value (sum_values d [v]) v.
Proof.
  intros F Fl R L. unfold range_ok in R. apply andb_prop in R. destruct R as [P M]. apply Z.leb_le in P, M. destruct v as [x|[]|]; try reflexivity.
  destruct (L x eq_refl) as [G A]. unfold sum_values, numbers. cbn [forallb is_num andb map num_of]. unfold sum_numbers. set (s := sign_of _ _ _ _). set (n := total d [x]). set (u := unit_of d [x]).
  assert (E : (IZR n * bp u = V x)%R) by (unfold n, u; rewrite total_value by exact F; unfold exact_sum; cbn; ring).
  assert (Q : flt_rnd (out d) (IZR n * bp u) = V x) by (rewrite E; unfold flt_rnd; apply round_generic; auto with typeclass_instances).
  pose proof (round_ok (out d) n u) as Ro. cbv zeta in Ro. rewrite Q in Ro. unfold convert. rewrite Fl. cbn [andb]. rewrite orb_false_r. set (r := round_div _ _ _) in *.
  destruct (Z.eqb_spec r 0) as [Z|Z]; [rewrite Z, Rmult_0_l in Ro; cbn; rewrite <- Ro; apply V_zero; reflexivity|].
  pose proof (not_large (out d) n u P M) as Nl. rewrite E in Nl. cbv zeta in Nl. fold r in Nl. specialize (Nl A Z).
  destruct (Z.ltb_spec (emax (out d)) (Z.log2 (Z.abs r) + last_bit (out d) n u)); [lia|]. cbn [same_value]. rewrite <- Ro. unfold V, signed, lsb. cbn [neg sig exp frac].
  replace (if r <? 0 then - Z.abs r else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia). do 2 f_equal. lia.
Qed.

(** Products of these bounds. *)
Definition exact_in (b : bounds) (o : conversion) : bool :=
  let g := Z.min (Z.max (upto b) (low_upto b) - snd (shape_of b)) (emax o - p o) in
  (0 <=? fst (shape_of b)) && (snd (shape_of b) <=? width b) && (fst (shape_of b) * 2 ^ (width b - snd (shape_of b)) <? 2 ^ (p o + 1)) &&
  (emin o - p o <=? lowest b - width b) && (magnitude g b <=? (2 ^ (p o + 1) - 1) * 2 ^ (emax o - p o - g)).

Lemma exact_fits b o v : range_ok o = true -> exact_in b o = true -> inside b v -> fits_in o v.
Proof.
  unfold exact_in, range_ok. cbv zeta. set (g := Z.min _ _). intros R O I x E. repeat rewrite andb_true_iff in O. destruct O as [[[[S0 Wi] S] L] M].
  apply andb_prop in R. destruct R as [P _]. apply Z.leb_le in S0, Wi, L, M, P. apply Z.ltb_lt in S. destruct (I x E) as [Ft [Lx [_ [U W]]]].
  split.
  - apply generic_format_FLT. exists (Float radix2 (signed x) (lsb x)); [reflexivity| |cbn; unfold lsb; lia]. cbn [Fnum].
    destruct Ft as [S1 S2]. change (Zpower radix2 (p o + 1)) with (2 ^ (p o + 1)).
    assert (A : Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia). rewrite A. eapply Z.le_lt_trans; [|exact S].
    apply le_IZR. rewrite mult_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp (- frac x)); [apply bpow_gt_0|]. eapply Rle_trans; [exact S2|].
    rewrite Rmult_assoc, <- bpow_plus. apply Rmult_le_compat_l; [now apply IZR_le|]. apply bpow_le. lia.
  - eapply Rle_trans; [apply (magnitude_of b g x Ft U S0); unfold g; lia|]. unfold max_of.
    replace (bp (emax o - p o)) with (bp (emax o - p o - g) * bp g)%R by (rewrite <- bpow_plus; f_equal; lia). rewrite (bp_Z (emax o - p o - g)) by (unfold g; lia).
    rewrite <- Rmult_assoc, <- mult_IZR. apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le].
Qed.

(** Rounded numbers of the same format. *)
Definition same_range (c o : conversion) : bool := range_ok c && (p c =? p o) && (emin c =? emin o) && (emax c =? emax o).

Lemma rounded_fits c o s n u : same_range c o = true -> fits_in o (convert c s n u).
Proof.
  unfold same_range. intros O x E. repeat rewrite andb_true_iff in O. destruct O as [[[R Ep] Em] Ex]. apply Z.eqb_eq in Ep, Em, Ex.
  unfold range_ok in R. apply andb_prop in R. destruct R as [P M]. apply Z.leb_le in P, M.
  assert (Fl : flt o = flt c) by (unfold flt; now rewrite Ep, Em). assert (Mx : max_of o = max_of c) by (unfold max_of; now rewrite Ep, Ex). rewrite Fl, Mx.
  split; [|now apply (convert_within c s n u)]. unfold convert in E. set (r := round_div _ _ _) in *.
  destruct (_ || _); [injection E as <-; rewrite V_zero by reflexivity; apply generic_format_0|].
  pose proof (pow2_pos (p c + 1) ltac:(lia)) as Pw.
  destruct (_ <? _).
  - destruct (is_infinite c n); [easy|]. injection E as <-. apply generic_format_FLT.
    exists (Float radix2 (if n <? 0 then - (2 ^ (p c + 1) - 1) else 2 ^ (p c + 1) - 1) (emax c - p c)); [reflexivity| |cbn; lia].
    cbn [Fnum]. change (Zpower radix2 (p c + 1)) with (2 ^ (p c + 1)). destruct (n <? 0); lia.
  - injection E as <-. assert (Vr : V {| neg := r <? 0; sig := Z.abs r; exp := Z.max (Z.log2 (Z.abs r) + last_bit c n u) (emin c);
      frac := Z.max (Z.log2 (Z.abs r) + last_bit c n u) (emin c) - last_bit c n u |} = flt_rnd c (IZR n * bp u)).
    { rewrite <- round_ok. cbv zeta. fold r. unfold V, signed, lsb. cbn [neg sig exp frac].
      replace (if r <? 0 then - Z.abs r else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia). do 2 f_equal. lia. }
    rewrite Vr. unfold flt_rnd. apply generic_format_round; auto with typeclass_instances.
Qed.

(** * Trees *)

Fixpoint all_steps (q : stage -> bool) (t : steps) : bool := match t with Step s l => q s && forallb (all_steps q) l | _ => true end.

(** The number of the first operand: c and +0 come before products. *)
Fixpoint place (t : steps) : Z :=
  match t with Product k => Z.of_nat k | C => -1 | PlusZero => -2 | Step _ l => match l with x :: _ => place x | [] => -3 end end.

Fixpoint put (x : steps) (l : list steps) : list steps :=
  match l with [] => [x] | y :: r => if place x <=? place y then x :: l else y :: put x r end.
Definition placed (l : list steps) : list steps := fold_right put [] l.

Lemma put_perm x l : Permutation (put x l) (x :: l).
Proof. induction l as [|y r IH]; cbn [put]; auto. destruct (_ <=? _); auto. eapply perm_trans; [apply perm_skip, IH|apply perm_swap]. Qed.

Lemma placed_perm l : Permutation (placed l) l.
Proof. induction l as [|x l IH]; cbn; auto. eapply perm_trans; [apply put_perm|now apply perm_skip]. Qed.

Lemma nth_same ps qs k : Forall2 same_value ps qs -> same_value (nth k ps NaN) (nth k qs NaN).
Proof. intros H. revert k. induction H as [|v w vs ws A H IH]; intros [|k]; cbn; auto. Qed.

Section Tidy.
(** Whether a sum of one product is that product. *)
Variable kept : stage -> bool.

Definition alone (t : steps) : steps := match t with Step s [Product k] => if kept s then Product k else t | _ => t end.
Fixpoint tidy (t : steps) : steps := match t with Step s l => Step s (placed (map (fun x => alone (tidy x)) l)) | _ => t end.

Variables (ps qs : list val) (c : val).
Hypothesis Same : Forall2 same_value ps qs.
Hypothesis Kept_ok : forall s v, kept s = true -> v = NaN \/ In v qs -> same_value (add s [v]) v.

Definition operand_of (ps : list val) (s : stage) (x : steps) : val :=
  let v := eval_steps Kept ps c x in match x with Step _ _ => flush Kept v | PlusZero => zero_of (stage_rounding s) | _ => v end.

Lemma tidy_same t : all_steps sees_values t = true ->
  match t with PlusZero => True | _ => same_value (eval_steps Kept ps c t) (eval_steps Kept qs c (tidy t)) end /\
  match t with Step _ _ => eval_steps Kept qs c (tidy t) = eval_steps Kept ps c t | _ => True end.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; intros A; cbn [tidy]; try (split; [cbn [eval_steps]; first [now apply nth_same|apply same_value_refl|exact I]|exact I]).
  cbn [all_steps] in A. apply andb_prop in A. destruct A as [As Al].
  assert (E : eval_steps Kept qs c (Step s (placed (map (fun x => alone (tidy x)) l))) = eval_steps Kept ps c (Step s l)).
  { cbn [eval_steps]. change (add s (map (operand_of qs s) (placed (map (fun x => alone (tidy x)) l))) = add s (map (operand_of ps s) l)).
    rewrite (add_perm s _ _ (Permutation_map (operand_of qs s) (placed_perm _))), map_map. apply add_same; auto.
    induction IH as [|x l Hx IH IHl]; [constructor|]. cbn [forallb] in Al. apply andb_prop in Al. destruct Al as [Ax Al]. cbn [map]. constructor; [|now apply IHl].
    destruct (Hx Ax) as [H1 H2]. destruct x as [k| | |s1 l1]; try apply same_value_refl.
    - now apply nth_same.
    - unfold operand_of at 1. cbn [tidy] in *. rewrite flush_kept, <- H2. set (m := placed _). unfold alone.
      destruct m as [|[k| | |s2 l2] [|y r]]; try (unfold operand_of; rewrite flush_kept; apply same_value_refl).
      destruct (kept s1) eqn:K; [|unfold operand_of; rewrite flush_kept; apply same_value_refl].
      unfold operand_of. cbn [eval_steps map]. apply Kept_ok; auto. destruct (nth_in_or_default k qs NaN); auto. }
  split; [rewrite E; apply same_value_refl|exact E].
Qed.
End Tidy.

(** * Designs *)

Definition with_products (d : design) (r : option rounding) : design :=
  let q := factors d in
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d; converted := converted d;
     factors := {| of_a := of_a q; of_b := of_b q; normalise_factors := normalise_factors q; exponent_step := exponent_step q; zero_terms := zero_terms q;
       odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := r |};
     cutting_of := cutting_of d; block := block d; odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := sums d;
     nan_word := nan_word d; nans := nans d; composed := composed d |}.

(** The rounding of products whose zeros are +0, and what is too large an Inf where it always is. *)
Definition plain_rounding (r : option rounding) : option rounding :=
  match r with Some (Floating c) => Some (Floating (with_zero_sign (plain_overflow c) Positive)) | _ => r end.

(** Whether products of a design are rounded to themselves. *)
Definition product_kept (d : design) (s : stage) : bool :=
  match s with
  | Stage s => none (fraction_bits s) && negb (flushes (out s)) && range_ok (out s) &&
      match product_rounding (factors d) with
      | Some (Floating c) => same_range c (out s)
      | Some _ => false
      | None => match exact_bounds d with Some tb => exact_in tb (out s) | None => false end
      end
  | _ => false
  end.

Definition tidied (d : design) : design :=
  let d' := with_products d (plain_rounding (product_rounding (factors d))) in
  match sums d with InSteps t => with_sums d' (InSteps (tidy (product_kept d) t)) | _ => d end.

Definition tidy_free (d : design) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && match c_rule d with Kept => true | _ => false end &&
  match cutting_of d, zero_terms (factors d), sums d with Whole, None, InSteps (Step s l) => all_steps sees_values (Step s l) | _, _, _ => false end.

Lemma plain_same c s n u : same_value (convert c s n u) (convert (with_zero_sign (plain_overflow c) Positive) s n u).
Proof.
  rewrite <- (plain_overflow_same c). generalize (plain_overflow c) as o. intros o. unfold convert.
  change (last_bit (with_zero_sign o Positive)) with (last_bit o). change (is_tiny (with_zero_sign o Positive)) with (is_tiny o).
  change (is_infinite (with_zero_sign o Positive)) with (is_infinite o). cbn [rho p emin emax flushes tiny zsign with_zero_sign].
  destruct (_ || _); [cbn [same_value]; now rewrite !V_zero|]. destruct (_ <? _); [destruct (is_infinite o n)|]; apply same_value_refl.
Qed.

Theorem tidy_idle d w : tidy_free d = true -> pairs w <> [] -> compute d w = compute (tidied d) w.
Proof.
  unfold tidy_free. intros O N. repeat rewrite andb_true_iff in O. destruct O as [[[[ON PO] B] K] O]. destruct (c_rule d) eqn:Cr; try easy. clear K.
  destruct (cutting_of d) eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. destruct (sums d) as [| | | | | | | |t] eqn:Sd; try easy.
  destruct t as [| | |s l]; try easy. apply Z.ltb_lt in B. unfold tidied. rewrite Sd. set (r := plain_rounding _). set (kept := product_kept d). set (d' := with_sums _ _).
  symmetry. apply (compute_alike d d' (fun _ => True)); auto; [repeat split|lia|]. intros b v _ M _. split; auto.
  unfold block_value. change (skipped d' b) with (skipped d b). destruct (skipped d b); auto.
  assert (Tp : forall e, terms d e = (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)) e, None)) by (intros; unfold terms; now rewrite W).
  assert (Tq : forall e, terms d' e = (map (fun x => scaled_product (factors d') (a_of d x) (b_of d x) (index x) (scaled_by x)) e, None))
    by (intros; unfold terms; change (cutting_of d') with (cutting_of d); now rewrite W).
  change (ordered d' b) with (ordered d b). rewrite Tp, Tq. cbn [fst snd]. change (taken_c d' v) with (taken_c d v).
  change (c_rule d') with (c_rule d). rewrite Cr, Sd. change (sums d') with (InSteps (tidy kept (Step s l))). cbn [block_sum].
  assert (Mo : Forall (made_by d) (ordered d b)).
  { apply Forall_forall. intros x Hx. rewrite Forall_forall in M. apply M. unfold ordered in Hx. destruct (odd_first d); auto. now apply swapped_incl. }
  assert (One : forall x, same_value (scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)) (scaled_product (factors d') (a_of d x) (b_of d x) (index x) (scaled_by x))).
  { intros x. unfold scaled_product. change (zero_terms (factors d')) with (zero_terms (factors d)). change (subtracted (factors d')) with (subtracted (factors d)).
    change (product_limit (factors d')) with (product_limit (factors d)). change (product_rounding (factors d')) with r. cbv zeta.
    destruct (fold_left product _ _) as [y| |]; try apply same_value_refl. match goal with |- same_value (if ?o then _ else _) _ => destruct o end; [apply same_value_refl|].
    unfold r. destruct (product_rounding (factors d)) as [[c|f]|]; try apply same_value_refl. cbn [plain_rounding]. unfold round_num. apply plain_same. }
  match goal with |- eval_steps _ ?qs ?c _ = eval_steps _ ?ps _ _ => refine (proj2 (tidy_same kept ps qs c _ _ (Step s l) O)) end.
  - induction (ordered d b) as [|x e IHe]; cbn [map]; constructor; auto. apply IHe. now inversion Mo.
  - intros s1 u Ks Hu. unfold kept, product_kept in Ks. destruct s1 as [s1|]; [|easy]. repeat rewrite andb_true_iff in Ks. destruct Ks as [[[F Fl] R] Ks].
    apply negb_true_iff in Fl. assert (Fb : fraction_bits s1 = None) by now destruct (fraction_bits s1). cbn [add]. apply alone_same; auto.
    destruct Hu as [->|Hu]; [intros y Hy; easy|]. apply in_map_iff in Hu. destruct Hu as [x [<- Hx]]. rewrite Forall_forall in Mo. specialize (Mo x Hx).
    unfold scaled_product. change (zero_terms (factors d')) with (zero_terms (factors d)). change (subtracted (factors d')) with (subtracted (factors d)).
    change (product_limit (factors d')) with (product_limit (factors d)). change (product_rounding (factors d')) with r. cbv zeta.
    destruct (product_rounding (factors d)) as [[c|f]|] eqn:Pr; try easy.
    + unfold r. rewrite ?Pr. cbn [plain_rounding]. destruct (fold_left product _ _) as [y| |]; try (intros z Hz; easy).
      match goal with |- fits_in _ (if ?o then _ else _) => destruct o end; [intros z Hz; easy|]. unfold round_num. apply rounded_fits.
      unfold same_range in *. unfold plain_overflow. destruct (always_infinite c); exact Ks.
    + destruct (exact_bounds d) as [tb|] eqn:T; [|easy]. destruct (exact_inside d tb x T Mo) as [_ I]. rewrite Zt, zero_as_none. unfold r. rewrite ?Pr. cbn [plain_rounding].
      destruct (fold_left product _ _) as [y| |]; try (intros z Hz; easy).
      match goal with |- fits_in _ (if ?o then _ else _) => destruct o end; [intros z Hz; easy|]. now apply exact_fits with tb.
Qed.
