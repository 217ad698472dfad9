(** The error of designs whose sums are made in an order, from words: what each block loses is computed, and grows from block to
    block. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact Orders Paths.
Import ListNotations.
Open Scope R_scope.

(** * Blocks that grow *)

Section Growth.
Variables (d : design) (value_in : element -> R) (block_in : list element -> Prop) (c_in : num -> Prop) (k kc h : R).
Hypothesis (K : 0 <= k) (Kc : 0 <= kc) (H : 0 <= h)
  (Step : forall b x z, block_in b -> c_in x -> block_value d (Num x) b = Num z ->
    c_in z /\ Rabs (V z - (V x + Rsum (map value_in b))) <= kc * Rabs (V x) + k * Rsum (map (fun e => Rabs (value_in e)) b) + h)
  (Stays : forall v b, block_in b -> is_num v = false -> is_num (block_value d v b) = false).

Lemma stays_in_turn bs : forall v, Forall block_in bs -> is_num v = false -> is_num (in_turn d bs v) = false.
Proof.
  induction bs as [|b r IH]; intros v F N; [exact N|]. apply Forall_cons_iff in F. destruct F as [Fb Fr]. unfold in_turn. cbn [fold_left]. apply IH; auto.
Qed.

Lemma sum_size (b : list element) : Rabs (Rsum (map value_in b)) <= Rsum (map (fun e => Rabs (value_in e)) b).
Proof. induction b; cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. Qed.

(** From a c that is wrong by C times the magnitudes so far and J, where a block loses no more of its own products than what C
    grows to. *)
Theorem blocks_grow bs : forall x z S A C J, Forall block_in bs -> c_in x -> k <= (1 + C) * (1 + kc) - 1 -> 0 <= C -> 0 <= J -> Rabs S <= A ->
  Rabs (V x - S) <= C * A + J -> in_turn d bs (Num x) = Num z ->
  Rabs (V z - (S + Rsum (map value_in (concat bs)))) <=
    ((1 + C) * (1 + kc) ^ length bs - 1) * (A + Rsum (map (fun e => Rabs (value_in e)) (concat bs))) +
    ((1 + kc) ^ length bs * J + h * geometric kc (length bs)).
Proof.
  induction bs as [|b r IH]; intros x z S A C J F Cx KC C0 J0 SA E R.
  - cbn in R. injection R as <-. cbn. rewrite !Rplus_0_r, !Rmult_1_r. lra.
  - apply Forall_cons_iff in F. destruct F as [Fb Fr]. unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d r (block_value d (Num x) b)) in R.
    assert (Nn : is_num (block_value d (Num x) b) = true).
    { destruct (is_num (block_value d (Num x) b)) eqn:N; auto. pose proof (stays_in_turn r _ Fr N) as Q. rewrite R in Q. discriminate Q. }
    destruct (block_value d (Num x) b) as [y| |] eqn:Ey; try discriminate.
    destruct (Step b x y Fb Cx Ey) as [Cy Sy]. cbn [concat]. rewrite !map_app, !Rsum_app.
    set (sb := Rsum (map value_in b)) in *. set (ab := Rsum (map (fun e => Rabs (value_in e)) b)) in *.
    assert (sab : Rabs sb <= ab) by apply sum_size. assert (ab0 : 0 <= ab) by (pose proof (Rabs_pos sb); lra).
    set (C' := (1 + C) * (1 + kc) - 1). assert (CC : C <= C') by (unfold C'; nra).
    assert (X : Rabs (V x) <= A + C * A + J).
    { replace (V x) with (S + (V x - S)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (G : Rabs (V y - (S + sb)) <= C' * (A + ab) + ((1 + kc) * J + h)).
    { replace (V y - (S + sb)) with ((V y - (V x + sb)) + (V x - S)) by ring. eapply Rle_trans; [apply Rabs_triang|].
      pose proof (Rmult_le_compat_l kc _ _ Kc X). pose proof (Rmult_le_compat_r ab _ _ ab0 KC). fold C' in H1. unfold C' in *. nra. }
    assert (Q : Rabs (V z - (S + sb + Rsum (map value_in (concat r)))) <=
      ((1 + C') * (1 + kc) ^ length r - 1) * (A + ab + Rsum (map (fun e => Rabs (value_in e)) (concat r))) +
      ((1 + kc) ^ length r * ((1 + kc) * J + h) + h * geometric kc (length r))).
    { apply (IH y); auto.
      - unfold C' in *. nra.
      - lra.
      - nra.
      - eapply Rle_trans; [apply Rabs_triang|]. lra. }
    replace (S + (sb + Rsum (map value_in (concat r)))) with (S + sb + Rsum (map value_in (concat r))) by ring.
    eapply Rle_trans; [exact Q|]. unfold C'. apply Req_le. cbn [length pow geometric]. ring.
Qed.

(** The first block with constants of its own. *)
Theorem blocks_grow_after b bs x z S A k0 h0 : 0 <= k0 -> 0 <= h0 -> k <= (1 + k0) * (1 + kc) - 1 -> Forall block_in (b :: bs) -> Rabs S <= A ->
  (forall y, block_value d (Num x) b = Num y -> c_in y /\
    Rabs (V y - (S + Rsum (map value_in b))) <= k0 * (A + Rsum (map (fun e => Rabs (value_in e)) b)) + h0) ->
  in_turn d (b :: bs) (Num x) = Num z ->
  Rabs (V z - (S + Rsum (map value_in (concat (b :: bs))))) <=
    ((1 + k0) * (1 + kc) ^ length bs - 1) * (A + Rsum (map (fun e => Rabs (value_in e)) (concat (b :: bs)))) +
    ((1 + kc) ^ length bs * h0 + h * geometric kc (length bs)).
Proof.
  intros K0 H0 KK F SA First R. apply Forall_cons_iff in F. destruct F as [Fb Fr]. unfold in_turn in R. cbn [fold_left] in R.
  fold (in_turn d bs (block_value d (Num x) b)) in R.
  assert (Nn : is_num (block_value d (Num x) b) = true).
  { destruct (is_num (block_value d (Num x) b)) eqn:N; auto. pose proof (stays_in_turn bs _ Fr N) as Q. rewrite R in Q. discriminate Q. }
  destruct (block_value d (Num x) b) as [y| |] eqn:Ey; try discriminate. destruct (First y eq_refl) as [Cy Sy].
  cbn [concat]. rewrite !map_app, !Rsum_app. rewrite <- (Rplus_assoc S), <- (Rplus_assoc A).
  apply (blocks_grow bs y z _ _ k0 h0 Fr Cy KK K0 H0); auto.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (sum_size b). lra.
Qed.
End Growth.

(** * Designs *)

(** What the exact products of a design are. *)
Definition unrounded_design (d : design) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := unrounded (factors d); cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := sums d; nan_word := nan_word d; nans := nans d; composed := composed d |}.

Lemma exact_term_facts d t x y : term_facts (unrounded_design d) = Some t -> made_by d x -> exact_term d x = Num y -> has t y.
Proof. intros T M E. exact (scaled_has (unrounded_design d) t x T M y E). Qed.

Lemma has_short t y : has t y -> short_number (Z.log2 (most t)) (V y).
Proof.
  intros [[P A] [B _]]. destruct (Z.eq_dec (sig y) 0) as [Z0|Z0].
  { rewrite V_zero by (unfold is_zero; now apply Z.eqb_eq). apply generic_format_0. }
  assert (Q : (0 < 2 ^ (bits t - frac y))%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (M : (sig y <= most t)%Z) by nia. pose proof (Z.log2_nonneg (most t)).
  unfold short_number. assert (Prec_gt_0 (Z.log2 (most t) + 1)) by (unfold Prec_gt_0; lia).
  apply generic_format_FLX. exists (Float radix2 (signed y) (lsb y)); [reflexivity|]. cbn [Fnum]. change (radix2 : Z) with 2%Z.
  assert (L : (sig y < 2 ^ (Z.log2 (most t) + 1))%Z).
  { destruct (Z.log2_spec (most t)) as [_ L]; [lia|]. replace (Z.succ (Z.log2 (most t))) with (Z.log2 (most t) + 1)%Z in L by lia. lia. }
  unfold signed. destruct (neg y); rewrite ?Z.abs_opp, Z.abs_eq by lia; exact L.
Qed.

(** Whether some sum cuts its terms: then they have to have leading bits. *)
Definition cuts (d : design) : bool :=
  existsb (fun s => match s with Stage s => match fraction_bits s with Some _ => true | None => false end | _ => false end) (block_stages (sums d)).

Section Design.
Variables (d : design) (floor tiny_unit : Z).
Let u := bp tiny_unit.

Definition product_bound : bound :=
  let t := term_facts (unrounded_design d) in
  {| known := true; nothing := false; short := match t with Some t => Some (Z.log2 (most t)) | None => None end;
     settles := match t with Some t => if cuts d && (0 <=? bits t)%Z then Some (bits t) else None | None => None end;
     factor := one; of_c := 0; beside := 0 |}.

(** The rounding of a product alone. *)
Definition rounded_bound (c : conversion) (b : bound) : bound :=
  let low := (p c + near_share c)%Z in
  let rest := Z.max 0 (width + (if flushes c then emin c else emin c - low) - tiny_unit)%Z in
  if monotone_conv c && (low <=? width)%Z
  then {| known := true; nothing := false; short := Some (p c); settles := None;
          factor := if fits_in (short b) (p c) then one else (one + 2 ^ (width - low))%Z; of_c := 0; beside := (2 ^ rest)%Z |}
  else unknown.

Definition term_bound : bound :=
  match product_rounding (factors d) with
  | None => product_bound
  | Some (Floating c) => rounded_bound c product_bound
  | Some _ => unknown
  end.

(** Fraction bits of c. *)
Definition c_bits : Z := Z.max (fbits (c_format d)) (fold_right Z.max 0%Z (map (fun s => p (stage_out s)) (block_stages (sums d)))).

Definition some_c : bound :=
  {| known := true; nothing := false; short := Some c_bits; settles := if cuts d then Some c_bits else None; factor := one; of_c := one; beside := 0 |}.

Definition block_bound (c : bound) : bound :=
  block_order bound (after_stage floor tiny_unit) (fun _ => plus_zero_bound) (fun b => b) unknown (sums d) (repeat term_bound (block d)) c.

(** What a block loses from c = 0, and beside any c: of its products' magnitudes and of c's, in units of 2^-128, and of
    2^[tiny_unit] times those. *)
Definition losses_of (c : bound) : option (Z * Z * Z) :=
  let r := block_bound c in
  if known r && fits_in (short r) c_bits && (negb (cuts d) || fits_in (settles r) c_bits) then Some (factor r - one, Z.max (of_c r) one - one, beside r)%Z else None.
Definition first_losses : option (Z * Z * Z) := losses_of plus_zero_bound.
Definition later_losses : option (Z * Z * Z) := losses_of some_c.

Definition quiet_ok (s : stage) : bool :=
  quiet_stage (c_rule d) s && (emin (stage_out s) <=? emax (stage_out s))%Z && (exact_stage s || match c_rule d with Kept => true | _ => false end).

(** The word 0 is a zero of either factor's format: blocks that are skipped add products of zero. *)
Definition zero_words : bool :=
  match decode (a_format d) 0, decode (b_format d) 0 with Num x, Num y => is_zero x && is_zero y | _, _ => false end.

Definition order_ok : bool :=
  ordered_sum (sums d) && forallb quiet_ok (block_stages (sums d)) && (0 <? block d)%nat &&
  match sums d with InSteps t => once (block d) t && match t with Step _ _ => true | _ => false end | _ => true end &&
  match cutting_of d with Whole => true | _ => false end && (negb (skips d) || zero_words) &&
  match zero_terms (factors d), product_limit (factors d), c_rule d with None, None, (Kept | PositiveZero | SignedZero) => true | _, _, _ => false end &&
  (least (start_format d) <=? floor)%Z && format_ok (start_format d) && (fbits (start_format d) <=? c_bits)%Z.

Hypothesis (O : order_ok = true).

Definition c_ready (x : num) : Prop :=
  flush (c_rule d) (Num x) = Num x /\ short_number c_bits (V x) /\ (cuts d = true -> forall f, (c_bits <= f)%Z -> settled f x /\ floored floor x).

Definition in_order (b : list element) : Prop :=
  length b = block d /\ Forall (made_by d) b /\ (cuts d = true -> Forall (leading_element d) b).

Definition of_element (e : element) : partial_result :=
  {| sum_of_it := exact_value d e; size_of_it := Rabs (exact_value d e); size_of_c := 0; value_of_it := term d e |}.
Definition of_number (x : num) : partial_result := {| sum_of_it := V x; size_of_it := 0; size_of_c := Rabs (V x); value_of_it := Num x |}.

Lemma order_parts : ordered_sum (sums d) = true /\ Forall (fun s => quiet_ok s = true) (block_stages (sums d)) /\ (0 < block d)%nat /\
  match sums d with InSteps t => once (block d) t = true /\ (exists s l, t = Step s l) | _ => True end /\
  cutting_of d = Whole /\ (skips d = true -> zero_words = true) /\ zero_terms (factors d) = None /\ product_limit (factors d) = None /\ c_rule d <> HiddenBit.
Proof.
  unfold order_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[A B] C] D] E] F] G] _] _] _].
  split; auto. split; [apply Forall_forall; now apply forallb_forall|]. split; [now apply Nat.ltb_lt|]. split.
  { destruct (sums d); auto. apply andb_prop in D. destruct D as [D1 D2]. split; auto. destruct root; try discriminate. eauto. }
  split; [now destruct (cutting_of d)|]. split; [intros Sk; rewrite Sk in F; exact F|].
  destruct (zero_terms (factors d)); [discriminate|]. destruct (product_limit (factors d)); [discriminate|]. split; auto. split; auto. now destruct (c_rule d).
Qed.

Lemma fix_zero : fixed 0 = 0.
Proof. unfold fixed. lra. Qed.

Lemma term_related e : made_by d e -> (cuts d = true -> leading_element d e) -> related floor tiny_unit (of_element e) term_bound.
Proof.
  intros M Le. destruct order_parts as [_ [_ [_ [_ [_ [_ [Zt [Pl _]]]]]]]].
  assert (T : term d e = match exact_term d e with Num y => match product_rounding (factors d) with Some r => round_num r y | None => Num y end | v => v end).
  { unfold term, exact_term, scaled_product. cbn [zero_terms unrounded odd_negated product_limit product_rounding]. rewrite Zt, Pl.
    destruct (fold_left product (scaled_by e) _); reflexivity. }
  assert (Sh : forall y, exact_term d e = Num y -> forall q, short product_bound = Some q -> short_number q (V y)).
  { intros y Ey q Hq. cbn [product_bound short] in Hq. destruct (term_facts (unrounded_design d)) as [t|] eqn:Tf; [|discriminate]. injection Hq as <-.
    apply has_short. eapply exact_term_facts; eauto. }
  unfold term_bound. destruct (product_rounding (factors d)) as [[c|]|] eqn:Pr; [| |].
  - unfold rounded_bound. set (low := (p c + near_share c)%Z). set (rest := Z.max 0 (width + (if flushes c then emin c else emin c - low) - tiny_unit)).
    destruct (monotone_conv c && (low <=? width)%Z) eqn:G; [|intros Q; discriminate Q]. apply andb_prop in G. destruct G as [Mc G1]. apply Z.leb_le in G1.
    intros _. cbn [of_element sum_of_it size_of_it size_of_c value_of_it factor of_c beside nothing short settles].
    assert (P : (0 <= p c)%Z) by (unfold monotone_conv in Mc; apply andb_prop in Mc; lia).
    pose proof (Z.pow_nonneg 2 rest). pose proof (Z.pow_nonneg 2 (width - low)).
    pose proof (Rabs_pos (exact_value d e)). split; [lra|]. split; [split; [destruct (fits_in _ _); lia|right; auto]|]. split; [lia|]. split; [intros Q; discriminate Q|].
    intros z Hz. rewrite T in Hz. destruct (exact_term d e) as [y| |] eqn:Ey; try discriminate.
    pose proof (round_num_flushed _ _ _ Mc Hz) as Vz. pose proof (flush_loss_fixed tiny_unit c) as FL. fold low rest in FL. fold u in FL. fold u.
    assert (Ex : exact_value d e = V y) by (unfold exact_value; now rewrite Ey). rewrite Ex, Vz.
    split; [intros q Hq; injection Hq as <-; now apply flt_short|]. split; [intros q f Hq; discriminate Hq|].
    destruct (fits_in (short product_bound) (p c)) eqn:Sb.
    + rewrite fix_one, Rmult_0_r, Rminus_eq_0, Rmult_0_l, !Rplus_0_l. eapply Rle_trans; [|exact FL]. apply short_loss; auto.
      unfold fits_in in Sb. destruct (short product_bound) as [q|] eqn:Sq; [|discriminate]. apply Z.leb_le in Sb. specialize (Sh y eq_refl q eq_refl). unfold short_number in *.
      eapply generic_inclusion_mag; [|exact Sh]. intros _. unfold FLX_exp. lia.
    + rewrite fix_plus, fix_one. pose proof (share_fixed c G1) as SF. fold low in SF. rewrite <- SF. replace (1 + share c - 1) with (share c) by ring. rewrite Rmult_0_r, Rplus_0_r. eapply Rle_trans; [apply flushed_loss; exact P|]. lra.
  - intros Q; discriminate Q.
  - intros _. cbn [of_element sum_of_it size_of_it size_of_c value_of_it product_bound factor of_c beside nothing].
    pose proof (Rabs_pos (exact_value d e)). split; [lra|]. split; [split; [lia|right; auto]|]. split; [lia|]. split; [intros Q; discriminate Q|].
    intros z Hz. rewrite T in Hz. destruct (exact_term d e) as [y| |] eqn:Ey; try discriminate. injection Hz as <-.
    assert (Ex : exact_value d e = V y) by (unfold exact_value; now rewrite Ey).
    split; [now apply Sh|]. split.
    { intros q f Hq Qf. cbn [product_bound settles] in Hq. destruct (term_facts (unrounded_design d)) as [t|] eqn:Tf; [|discriminate].
      destruct (cuts d && (0 <=? bits t)%Z) eqn:Cu; [|discriminate]. injection Hq as <-. apply andb_prop in Cu. destruct Cu as [Cu B0]. apply Z.leb_le in B0.
      assert (Lu : leading_element (unrounded_design d) e) by exact (Le Cu).
      assert (Sk : share_ok (unrounded_design d) RZ 4096 = true) by reflexivity.
      destruct (term_fit (unrounded_design d) t f (low t) 4096 RZ e Tf M Lu Qf B0 ltac:(lia) Sk y Ey) as [F1 [F2 _]].
      split; [exact F1|]. intros Zy. left. now apply F2. }
    rewrite Ex, fix_one, fix_zero, Rminus_eq_0, Rminus_eq_0, Rabs_R0. lra.
Qed.

Lemma c_related x : c_ready x -> related floor tiny_unit (of_number x) some_c.
Proof.
  intros [_ [Sh Se]] _. cbn [of_number some_c sum_of_it size_of_it size_of_c value_of_it factor of_c beside nothing short settles].
  pose proof (Rabs_pos (V x)). split; [lra|]. split; [lia|]. split; [lia|]. split; [intros Q; discriminate Q|]. intros z Hz. injection Hz as <-.
  split; [intros q Hq; injection Hq as <-; exact Sh|]. split.
  { intros q f Hq Qf. destruct (cuts d) eqn:Cu; [|discriminate]. injection Hq as <-. now apply Se. }
  rewrite fix_one, fix_zero, Rminus_eq_0, Rminus_eq_0, Rabs_R0. lra.
Qed.

Lemma zero_related x : V x = 0 -> related floor tiny_unit (of_number x) plus_zero_bound.
Proof.
  intros X _. cbn [of_number plus_zero_bound sum_of_it size_of_it size_of_c value_of_it factor of_c beside nothing short settles]. rewrite X, Rabs_R0.
  split; [lra|]. split; [split; [lia|right; auto]|]. split; [lia|]. split; [intros _; repeat split; eauto|].
  intros z Hz. injection Hz as <-. rewrite X. split; [intros q _; apply generic_format_0|]. split.
  { intros q f _ _. split; [unfold settled; rewrite X; apply generic_format_0|]. intros Nz. rewrite (V_nothing x X) in Nz. discriminate Nz. }
  rewrite fix_one, fix_zero, Rminus_0_r, !Rabs_R0. lra.
Qed.

(** The value of a block as an order of sums. *)
Lemma block_in_order b v : length b = block d -> skipped d b = false ->
  block_value d v b = block_order val add (fun s => zero_of (stage_rounding s)) (flush (c_rule d)) NaN (sums d) (map (term d) (ordered d b)) (flush (c_rule d) v).
Proof.
  intros L K. destruct order_parts as [Od [_ [_ [_ [Cu [_ [Zt _]]]]]]]. unfold block_value, terms. rewrite K, Cu. cbn [fst snd].
  rewrite block_order_sum by exact Od. f_equal. unfold taken_c. now rewrite Zt, zero_as_none.
Qed.

Lemma quiet_result s vs : quiet_ok s = true -> flush (c_rule d) (add s vs) = add s vs.
Proof.
  unfold quiet_ok. intros Q. repeat rewrite andb_true_iff in Q. destruct Q as [[Q1 Q2] Q3]. apply Z.leb_le in Q2. apply orb_prop in Q3. destruct Q3 as [Q3|Q3].
  - destruct (quiet_flush (c_rule d) s vs Q3 Q2 Q1) as [v [V1 V2]]. congruence.
  - destruct (c_rule d); try discriminate. apply flush_kept.
Qed.

(** The last sum of a block. *)
Lemma last_sum A (sum : stage -> list A -> A) zero taken none ps c : ps <> [] ->
  exists s l, In s (block_stages (sums d)) /\ block_order A sum zero taken none (sums d) ps c = sum s l.
Proof.
  intros N. destruct order_parts as [Od [_ [_ [St _]]]]. destruct (sums d) as [s| | | | | |s l|i s l|t]; try discriminate; cbn [block_order block_stages].
  - exists s, (ps ++ [c]). split; [now left|reflexivity].
  - unfold from_c. destruct ps; [congruence|]. eexists l, _. split; [right; now left|reflexivity].
  - eexists l, _. split; [right; now left|reflexivity].
  - destruct St as [_ [s [l ->]]]. eexists s, _. split; [now left|reflexivity].
Qed.

(** The products of a block that is skipped are zeros. *)
Definition zero_or_nan (v : val) : Prop := v = NaN \/ exists x, v = Num x /\ is_zero x = true.

Lemma zero_product v w : zero_or_nan v -> zero_or_nan (product v w) /\ zero_or_nan (product w v).
Proof.
  intros [->|[x [-> Zx]]]; [split; left; destruct w; reflexivity|]. destruct w as [y|s|]; cbn [product]; rewrite ?Zx; split; (now left) || (right; eexists; split; [reflexivity|]);
    unfold is_zero, times in *; cbn [sig]; apply Z.eqb_eq in Zx; rewrite Zx; apply Z.eqb_eq; lia.
Qed.

Lemma zero_operand r f x : decode f 0 = Num x -> is_zero x = true -> zero_or_nan (Design.factor (factors d) r (operand d f 0)).
Proof.
  intros D Zx. assert (Q : exists y, operand d f 0 = Num y /\ is_zero y = true).
  { unfold operand. rewrite D. assert (G : forall g, is_zero (in_format g x) = true) by (intros g; exact Zx).
    destruct (converted d) as [g|]; cbn [on_num]; (destruct (_ =? 1)%Z; [eauto|]); cbn [on_num]; eexists; (split; [reflexivity|]); unfold is_zero, stepped, in_format, at_exponent in *; cbn [sig];
      apply Z.eqb_eq in Zx; rewrite Zx; reflexivity. }
  destruct Q as [y [-> Zy]]. unfold Design.factor, flush, is_subnormal. rewrite Zy. cbn [negb andb]. right. destruct (normalise_factors (factors d)); [|eauto].
  exists y. cbn [on_num]. unfold normalised, is_subnormal. rewrite Zy. auto.
Qed.

Lemma skipped_exact b e : skipped d b = true -> In e b -> exact_value d e = 0.
Proof.
  intros K He. destruct order_parts as [_ [_ [_ [_ [_ [Zw [Zt [Pl _]]]]]]]]. unfold skipped in K. apply andb_prop in K. destruct K as [Sk K]. specialize (Zw Sk). unfold zero_words in Zw.
  destruct (decode (a_format d) 0) as [x| |] eqn:Da; try discriminate. destruct (decode (b_format d) 0) as [y| |] eqn:Db; try discriminate. apply andb_prop in Zw. destruct Zw as [Zx Zy].
  assert (P : zero_or_nan (product (a_of d e) (b_of d e))).
  { apply orb_prop in K. destruct K as [K|K]; rewrite forallb_forall in K; specialize (K e He); apply Z.eqb_eq in K.
    - apply (zero_product (a_of d e) (b_of d e)). unfold a_of. rewrite K. now apply zero_operand with x.
    - apply (zero_product (b_of d e) (a_of d e)). unfold b_of. rewrite K. now apply zero_operand with y. }
  unfold exact_value, exact_term, scaled_product. cbn [zero_terms unrounded odd_negated even_negated product_limit product_rounding subtracted]. cbv zeta. rewrite Zt, Pl, zero_as_none.
  set (v := if subtracted _ _ then _ else _). assert (Zv : zero_or_nan v).
  { unfold v. destruct (subtracted _ _); auto. destruct P as [->|[q [-> Zq]]]; [now left|]. right. eexists. split; [reflexivity|exact Zq]. }
  assert (Zp : zero_or_nan (fold_left product (scaled_by e) v)).
  { clearbody v. revert v Zv. induction (scaled_by e) as [|w r IH]; intros v Zv; [exact Zv|]. cbn [fold_left]. apply IH. now apply (zero_product v w). }
  destruct Zp as [->|[q [-> Zq]]]; cbn [num_of]; [unfold V, signed; cbn; ring|now apply V_zero].
Qed.

(** One block. *)
Lemma block_loses b x c z k kc h : in_order b -> c_ready x -> related floor tiny_unit (of_number x) c -> losses_of c = Some (k, kc, h) ->
  block_value d (Num x) b = Num z ->
  (0 <= fixed k /\ 0 <= fixed kc) /\ 0 <= fixed h * u /\ c_ready z /\
  Rabs (V z - (V x + Rsum (map (exact_value d) b))) <= fixed kc * Rabs (V x) + fixed k * Rsum (map (fun e => Rabs (exact_value d e)) b) + fixed h * u.
Proof.
  intros [Lb [Mb Le]] Cx Rc Lo Bz. pose proof (proj1 Cx) as Fc. destruct order_parts as [Od [Qs [Bn [St _]]]].
  unfold losses_of in Lo. destruct (known (block_bound c) && fits_in (short (block_bound c)) c_bits && (negb (cuts d) || fits_in (settles (block_bound c)) c_bits)) eqn:G; [|discriminate].
  assert (Lo3 : k = (factor (block_bound c) - one)%Z /\ kc = (Z.max (of_c (block_bound c)) one - one)%Z /\ h = beside (block_bound c)).
  { revert Lo. generalize (factor (block_bound c) - one)%Z (Z.max (of_c (block_bound c)) one - one)%Z (beside (block_bound c)). intros ? ? ? Q. now injection Q. }
  destruct Lo3 as [-> [-> ->]]. clear Lo. repeat rewrite andb_true_iff in G. destruct G as [[Kn Sf] Se].
  assert (Lo' : length (ordered d b) = block d) by (unfold ordered; destruct (odd_first d); rewrite ?swapped_length; auto).
  assert (In' : forall e, In e (ordered d b) -> In e b) by (intros e; unfold ordered; destruct (odd_first d); auto using swapped_incl).
  set (qs := map of_element (ordered d b)).
  assert (Fq : Forall2 (related floor tiny_unit) qs (repeat term_bound (block d))).
  { unfold qs. rewrite <- Lo'. clear -u O In' Mb Le. rewrite Forall_forall in Mb. induction (ordered d b) as [|e r IH]; cbn; [constructor|]. constructor.
    - apply term_related; [apply Mb, In'; now left|]. intros Cu. specialize (Le Cu). rewrite Forall_forall in Le. apply Le, In'. now left.
    - apply IH. intros e' He'. apply In'. now right. }
  pose proof (order_related partial_result bound add_parts (after_stage floor tiny_unit) zero_part (fun _ => plus_zero_bound)
    (fun q => {| sum_of_it := sum_of_it q; size_of_it := size_of_it q; size_of_c := size_of_c q; value_of_it := flush (c_rule d) (value_of_it q) |}) (fun b => b) no_part unknown
    (fun s => quiet_ok s = true) (related floor tiny_unit)) as OR.
  specialize (OR ltac:(intros s l m _ Hl; now apply sum_related)).
  assert (Hz : forall s, quiet_ok s = true -> related floor tiny_unit (zero_part s) plus_zero_bound).
  { intros s _ _. cbn [zero_part plus_zero_bound sum_of_it size_of_it size_of_c value_of_it factor of_c beside nothing short settles].
    assert (V0 : forall y, zero_of (stage_rounding s) = Num y -> V y = 0).
    { intros y Hy. unfold zero_of in Hy. destruct (stage_rounding s); injection Hy as <-; unfold V, signed; cbn; ring. }
    rewrite Rabs_R0. split; [lra|]. split; [split; [lia|right; auto]|]. split; [lia|]. split.
    { intros _. split; auto. split; auto. unfold zero_of in *. destruct (stage_rounding s); eexists; (split; [reflexivity|]); now apply V0. }
    intros y Hy. rewrite (V0 y Hy). split; [intros q _; apply generic_format_0|]. split.
    { intros q f _ _. split; [unfold settled; rewrite (V0 y Hy); apply generic_format_0|]. intros Nz. rewrite (V_nothing y (V0 y Hy)) in Nz. discriminate Nz. }
    rewrite fix_one, fix_zero, Rminus_0_r, Rabs_R0. lra. }
  specialize (OR Hz ltac:(intros Q; discriminate Q)).
  assert (Ht : forall s l m, quiet_ok s = true -> Forall2 (related floor tiny_unit) l m ->
    related floor tiny_unit {| sum_of_it := sum_of_it (add_parts s l); size_of_it := size_of_it (add_parts s l); size_of_c := size_of_c (add_parts s l); value_of_it := flush (c_rule d) (value_of_it (add_parts s l)) |}
      (after_stage floor tiny_unit s m)).
  { intros s l m Q Hl. pose proof (sum_related floor tiny_unit s l m Hl) as SR. cbn [add_parts value_of_it]. rewrite quiet_result by exact Q. exact SR. }
  specialize (OR Ht (sums d) qs (repeat term_bound (block d)) (of_number x) c Qs Fq Rc). fold (block_bound c) in OR.
  set (r := block_order partial_result add_parts zero_part _ no_part (sums d) qs (of_number x)) in OR.
  assert (Fk : forall x, fixed (x - one) = fixed x - 1).
  { intros y. unfold Z.sub. rewrite fix_plus. unfold fixed at 2. rewrite opp_IZR. pose proof fix_one as Q. unfold fixed in Q. lra. }
  pose proof (bpow_gt_0 radix2 tiny_unit) as U0. fold u in U0.
  destruct (skipped d b) eqn:K.
  { (* products of zero *)
    unfold block_value in Bz. rewrite K in Bz. injection Bz as <-. destruct (OR Kn) as [_ [[F1 _] [B0 _]]].
    pose proof (fix_le _ _ F1) as F1'. pose proof (fix_le _ _ (Z.le_max_r (of_c (block_bound c)) one)) as C1'. rewrite fix_one in F1', C1'. pose proof (fix_nonneg _ B0) as B0'.
    assert (Z1 : Rsum (map (exact_value d) b) = 0 /\ Rsum (map (fun e => Rabs (exact_value d e)) b) = 0).
    { pose proof (fun e => skipped_exact b e K) as Zs. clear -Zs. induction b as [|e r IH]; [cbn; auto|]. cbn [map]. rewrite !Rsum_cons, (Zs e (or_introl eq_refl)), Rabs_R0.
      destruct (IH (fun e He => Zs e (or_intror He))) as [-> ->]. split; ring. }
    destruct Z1 as [-> ->]. rewrite !Fk. split; [lra|]. split; [apply Rmult_le_pos; lra|]. split; [exact Cx|].
    rewrite Rplus_0_r, Rminus_eq_0, Rabs_R0, Rmult_0_r, Rplus_0_r. pose proof (Rabs_pos (V x)). apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
  rewrite block_in_order, Fc in Bz by assumption.
  assert (Nq : qs <> []) by (unfold qs; destruct (ordered d b); [cbn in Lo'; lia|discriminate]).
  (* its value, and what it is the sum of *)
  assert (Vr : value_of_it r = Num z).
  { rewrite <- Bz. unfold r.
    pose proof (order_related partial_result val add_parts add zero_part (fun s => zero_of (stage_rounding s))
      (fun q => {| sum_of_it := sum_of_it q; size_of_it := size_of_it q; size_of_c := size_of_c q; value_of_it := flush (c_rule d) (value_of_it q) |}) (flush (c_rule d)) no_part NaN
      (fun _ => True) (fun q v => value_of_it q = v)) as OV.
    apply OV; auto.
    - intros s l m _ Hl. cbn [add_parts value_of_it]. f_equal. clear -Hl. induction Hl; cbn; congruence.
    - intros s l m _ Hl. cbn [add_parts value_of_it]. do 2 f_equal. clear -Hl. induction Hl; cbn; congruence.
    - apply Forall_forall. auto.
    - unfold qs. clear. induction (ordered d b); cbn; constructor; auto. }
  assert (Tot : forall g : partial_result -> R, (forall s l, g (add_parts s l) = Rsum (map g l)) -> (forall s, g (zero_part s) = 0) -> g no_part = 0 ->
    (forall q, g {| sum_of_it := sum_of_it q; size_of_it := size_of_it q; size_of_c := size_of_c q; value_of_it := flush (c_rule d) (value_of_it q) |} = g q) ->
    g r = Rsum (map g qs) + g (of_number x)).
  { intros g G1 G2 G3 G4. rewrite <- (order_total (sums d) (map g qs) (g (of_number x)) Od).
    - unfold r. pose proof (order_related partial_result R add_parts plain_sum_of zero_part (fun _ => 0)
        (fun q => {| sum_of_it := sum_of_it q; size_of_it := size_of_it q; size_of_c := size_of_c q; value_of_it := flush (c_rule d) (value_of_it q) |}) (fun x => x) no_part 0
        (fun _ => True) (fun q y => g q = y)) as OV.
      apply OV; auto.
      + intros s l m _ Hl. rewrite G1. unfold plain_sum_of. f_equal. clear -Hl. induction Hl; cbn; congruence.
      + intros s l m _ Hl. rewrite G4, G1. unfold plain_sum_of. f_equal. clear -Hl. induction Hl; cbn; congruence.
      + apply Forall_forall. auto.
      + clear. induction qs; cbn; constructor; auto.
    - intros Q. apply Nq. destruct qs; [reflexivity|discriminate].
    - destruct (sums d); auto. rewrite map_length. unfold qs. rewrite map_length, Lo'. apply St. }
  assert (S1 : sum_of_it r = Rsum (map (exact_value d) b) + V x).
  { rewrite (Tot sum_of_it) by reflexivity. cbn [of_number sum_of_it]. f_equal. unfold qs. rewrite map_map. cbn [of_element sum_of_it].
    unfold ordered. destruct (odd_first d); auto. apply swapped_sum. }
  assert (S3 : size_of_c r = Rabs (V x)).
  { rewrite (Tot size_of_c) by reflexivity. cbn [of_number size_of_c]. assert (Z0 : Rsum (map size_of_c qs) = 0); [|lra]. unfold qs.
    clear. induction (ordered d b); cbn; [reflexivity|]. unfold Rsum in *. cbn in *. lra. }
  assert (S2 : size_of_it r = Rsum (map (fun e => Rabs (exact_value d e)) b)).
  { rewrite (Tot size_of_it) by reflexivity. cbn [of_number size_of_it]. rewrite Rplus_0_r. unfold qs. rewrite map_map. cbn [of_element size_of_it].
    unfold ordered. destruct (odd_first d); auto. apply (swapped_sum (fun e => Rabs (exact_value d e))). }
  destruct (OR Kn) as [_ [[F1 _] [B0 [_ X5]]]]. destruct (X5 z Vr) as [X6 [X7 X8]]. rewrite S1, S2, S3 in X8.
  pose proof (fix_le _ _ F1) as F1'. pose proof (fix_le _ _ (Z.le_max_r (of_c (block_bound c)) one)) as C1'.
  pose proof (fix_le _ _ (Z.le_max_l (of_c (block_bound c)) one)) as C2'. rewrite fix_one in F1', C1'. set (gc := Z.max (of_c (block_bound c)) one) in *.
  pose proof (Rmult_le_compat_r (Rabs (V x)) _ _ (Rabs_pos (V x)) C2') as C3'.
  rewrite !Fk. pose proof (fix_nonneg _ B0) as B0'. fold u in X8.
  split; [lra|]. split; [now apply Rmult_le_pos; lra|]. split.
  - split; [|split].
    + rewrite <- Vr. unfold r. destruct (last_sum partial_result add_parts zero_part
        (fun q => {| sum_of_it := sum_of_it q; size_of_it := size_of_it q; size_of_c := size_of_c q; value_of_it := flush (c_rule d) (value_of_it q) |}) no_part qs (of_number x) Nq) as [s [l [Is Es]]].
      rewrite Es. cbn [add_parts value_of_it]. apply quiet_result. rewrite Forall_forall in Qs. now apply Qs.
    + unfold fits_in in Sf. destruct (short (block_bound c)) as [q|]; [|discriminate]. apply Z.leb_le in Sf. specialize (X6 q eq_refl). unfold short_number in *.
      eapply generic_inclusion_mag; [|exact X6]. intros _. unfold FLX_exp. lia.
    + intros Cu f Hf. rewrite Cu in Se. cbn [negb orb] in Se. unfold fits_in in Se. destruct (settles (block_bound c)) as [q|]; [|discriminate]. apply Z.leb_le in Se.
      apply (X7 q f eq_refl). lia.
  - replace (V x + Rsum (map (exact_value d) b)) with (Rsum (map (exact_value d) b) + V x) by ring. lra.
Qed.

(** What is no number stays none. *)
Lemma not_num_sum s vs v : In v vs -> is_num v = false -> is_num (add s vs) = false.
Proof.
  intros I N. assert (B : numbers vs = None).
  { unfold numbers. destruct (forallb is_num vs) eqn:F; auto. rewrite forallb_forall in F. rewrite (F v I) in N. discriminate N. }
  assert (Sp : is_num (special_sum vs) = false).
  { destruct (special_sum vs) eqn:E; auto. exfalso. now apply (special_not_num vs x). }
  destruct s; cbn [add]; [unfold sum_values|unfold on_numbers]; now rewrite B.
Qed.

Lemma not_num_block b v : in_order b -> is_num v = false -> is_num (block_value d v b) = false.
Proof.
  intros [Lb _] N. destruct order_parts as [Od [_ [Bn [St _]]]]. destruct (skipped d b) eqn:K; [unfold block_value; now rewrite K|]. rewrite block_in_order by assumption.
  assert (Lo' : length (ordered d b) = block d) by (unfold ordered; destruct (odd_first d); rewrite ?swapped_length; auto).
  set (ps := map (term d) (ordered d b)).
  pose proof (order_related val R add plain_sum_of (fun s => zero_of (stage_rounding s)) (fun _ => 0) (flush (c_rule d)) (fun x => x) NaN 0
    (fun _ => True) (fun w x => 0 <= x /\ (0 < x -> is_num w = false))) as OV.
  assert (Sums : forall s l m, Forall2 (fun w x => 0 <= x /\ (0 < x -> is_num w = false)) l m ->
    0 <= plain_sum_of s m /\ (0 < plain_sum_of s m -> is_num (add s l) = false)).
  { intros s l m Hl. unfold plain_sum_of. assert (G : 0 <= Rsum m /\ (0 < Rsum m -> exists w, In w l /\ is_num w = false)).
    { clear -Hl. induction Hl as [|w x l m [H1 H2] Hl [I1 I2]]; [cbn; split; [lra|intros Q; lra]|]. rewrite Rsum_cons. split; [lra|]. intros Q.
      destruct (Rlt_or_le 0 x) as [L|L]; [exists w; split; [now left|auto]|]. destruct I2 as [w' [W1 W2]]; [lra|]. exists w'. split; [now right|exact W2]. }
    destruct G as [G1 G2]. split; auto. intros Q. destruct (G2 Q) as [w [W1 W2]]. now apply not_num_sum with w. }
  specialize (OV ltac:(intros; now apply Sums)). specialize (OV ltac:(intros; split; [lra|intros Q; lra])). specialize (OV ltac:(split; [lra|intros Q; lra])).
  specialize (OV ltac:(intros s l m _ Hl; destruct (Sums s l m Hl) as [G1 G2]; split; auto; intros Q; specialize (G2 Q); destruct (add s l); [discriminate G2|reflexivity|reflexivity])).
  specialize (OV (sums d) ps (map (fun _ => 0) ps) (flush (c_rule d) v) 1).
  destruct OV as [_ OV].
  - apply Forall_forall. auto.
  - clear. induction ps; cbn; constructor; auto. split; [lra|intros Q; lra].
  - split; [lra|]. intros _. destruct v; [discriminate N|reflexivity|reflexivity].
  - apply OV. rewrite order_total; auto.
    + assert (Z0 : Rsum (map (fun _ => 0) ps) = 0) by (clear; induction ps; cbn; [reflexivity|unfold Rsum in *; lra]). rewrite Z0. lra.
    + unfold ps. destruct (ordered d b); [cbn in Lo'; lia|discriminate].
    + destruct (sums d); auto. rewrite map_length. unfold ps. rewrite map_length, Lo'. apply St.
Qed.

Lemma start_ready w x : decode (start_format d) w = Num x -> forall y, flush (c_rule d) (Num x) = Num y -> c_ready y.
Proof.
  intros D y Fy. pose proof O as O'. unfold order_ok in O'. repeat rewrite andb_true_iff in O'. destruct O' as [[[[[[[[[_ _] _] _] _] _] G] Lf] Of] Fb].
  apply Z.leb_le in Lf, Fb. destruct (decode_num _ _ _ Of D) as [A [B [C E]]]. pose proof (format_bits _ Of) as F0.
  assert (Nh : c_rule d <> HiddenBit) by apply order_parts.
  assert (Fl : flush (c_rule d) (Num y) = Num y) by (rewrite <- Fy; now apply flush_twice).
  assert (Y : y = x \/ V y = 0).
  { unfold flush in Fy. destruct (negb (is_subnormal x)); [injection Fy as <-; now left|].
    destruct (c_rule d); try congruence; injection Fy as <-; auto; right; unfold V, signed; cbn; destruct (neg x); ring. }
  split; [exact Fl|]. destruct Y as [->|Y].
  - split.
    + assert (Hx : has (format_facts (start_format d)) x) by (unfold has; cbn [most bits low format_facts]; rewrite B, Z.sub_diag; cbn; lia).
      pose proof (has_short _ _ Hx) as Q. unfold short_number in *. eapply generic_inclusion_mag; [|exact Q]. intros _. unfold FLX_exp. cbn [most format_facts].
      assert (L : (Z.log2 (2 ^ (fbits (start_format d) + 1) - 1) = fbits (start_format d))%Z).
      { replace (2 ^ (fbits (start_format d) + 1) - 1)%Z with (Z.pred (2 ^ (fbits (start_format d) + 1))) by lia. rewrite Z.log2_pred_pow2 by lia. lia. }
      lia.
    + intros _ f Hf. split; [apply short_settled; lia|]. intros Z. destruct E as [E|E]; [left|right; lia].
      apply leading_normal; [lia| |exact Z]. right. now rewrite B.
  - split; [rewrite Y; apply generic_format_0|]. intros _ f Hf. split; [unfold settled; rewrite Y; apply generic_format_0|].
    intros Z. rewrite (V_nothing y Y) in Z. discriminate Z.
Qed.

Lemma block_flushed b v x : skips d = false -> in_order b -> flush (c_rule d) v = Num x -> block_value d v b = block_value d (Num x) b.
Proof.
  intros Sk [Lb _] F. assert (K : skipped d b = false) by (unfold skipped; now rewrite Sk). rewrite !block_in_order by assumption. rewrite F. rewrite <- F. rewrite flush_twice; auto. apply order_parts.
Qed.

Lemma first_in_turn b bs v x : skips d = false -> Forall in_order (b :: bs) -> flush (c_rule d) v = Num x -> in_turn d (b :: bs) v = in_turn d (b :: bs) (Num x).
Proof.
  intros Sk F Fv. apply Forall_cons_iff in F. destruct F as [Fb _]. unfold in_turn. cbn [fold_left]. f_equal.
  now apply block_flushed.
Qed.

(** A constant of the first block for which others lose no more of their own products than what it grows to. *)
Definition enough (k0 : Z) (l : Z * Z * Z) : bool := let '(k, kc, _) := l in ((k + one) * one <=? (k0 + one) * (kc + one))%Z.

Lemma enough_grows k0 k kc h : enough k0 (k, kc, h) = true -> fixed k <= (1 + fixed k0) * (1 + fixed kc) - 1.
Proof.
  unfold enough. intros E. apply Z.leb_le in E. apply IZR_le in E. rewrite !mult_IZR in E.
  assert (Q : fixed (k + one) * fixed one <= fixed (k0 + one) * fixed (kc + one)).
  { unfold fixed. pose proof (bpow_ge_0 radix2 (- width)) as B.
    replace (IZR (k + one) * bp (- width) * (IZR one * bp (- width))) with (IZR (k + one) * IZR one * (bp (- width) * bp (- width))) by ring.
    replace (IZR (k0 + one) * bp (- width) * (IZR (kc + one) * bp (- width))) with (IZR (k0 + one) * IZR (kc + one) * (bp (- width) * bp (- width))) by ring.
    apply Rmult_le_compat_r; [now apply Rmult_le_pos|exact E]. }
  rewrite !fix_plus, fix_one in Q. lra.
Qed.

Definition step_of (k kc h : Z) (L : later_losses = Some (k, kc, h)) b x z (Hb : in_order b) (Cx : c_ready x) (E : block_value d (Num x) b = Num z) :=
  let '(conj _ (conj _ G)) := block_loses b x some_c z k kc h Hb Cx (c_related x Cx) L E in G.

(** From any c, in terms of its magnitude, a first block with a constant of its own. *)
Theorem order_error bs v w x z k kc h k0 : skips d = false -> Forall in_order bs -> decode (start_format d) w = v -> flush (c_rule d) v = Num x ->
  later_losses = Some (k, kc, h) -> (k <= k0)%Z -> (kc <= k0)%Z -> in_turn d bs v = Num z -> bs <> [] ->
  let m := Nat.pred (length bs) in
  Rabs (V z - (V x + Rsum (map (exact_value d) (concat bs)))) <=
    ((1 + fixed k0) * (1 + fixed kc) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (exact_value d e)) (concat bs))) +
    ((1 + fixed kc) ^ m * (fixed h * u) + fixed h * u * geometric (fixed kc) m).
Proof.
  intros Sk F D Fv L K0k K0c R N m. assert (Vx : exists y, v = Num y) by (destruct v; [eauto|discriminate Fv|discriminate Fv]). destruct Vx as [y Vy]. rewrite Vy in *.
  pose proof (start_ready w y D x Fv) as Cx. destruct bs as [|b bs]; [congruence|]. rewrite (first_in_turn b bs (Num y) x Sk F Fv) in R.
  unfold m. cbn [length Nat.pred]. pose proof F as F'. apply Forall_cons_iff in F'. destruct F' as [Fb Fr].
  destruct (is_num (block_value d (Num x) b)) eqn:Nb.
  2: { exfalso. unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d bs (block_value d (Num x) b)) in R.
       pose proof (stays_in_turn d in_order (fun v b Hb Nv => not_num_block b v Hb Nv) bs _ Fr Nb) as Q. rewrite R in Q. discriminate Q. }
  destruct (block_value d (Num x) b) as [q| |] eqn:Ey; try discriminate.
  destruct (block_loses b x some_c q k kc h Fb Cx (c_related x Cx) L Ey) as [[G1 G1'] [G2 _]].
  pose proof (fix_le _ _ K0k) as Q1. pose proof (fix_le _ _ K0c) as Q2.
  apply (blocks_grow_after d (exact_value d) in_order c_ready (fixed k) (fixed kc) (fixed h * u) G1' G2 (step_of k kc h L)
    (fun v b Hb Nv => not_num_block b v Hb Nv) b bs x z (V x) (Rabs (V x)) (fixed k0) (fixed h * u)); auto; try lra.
  - nra.
  - intros y' Hy'. destruct (step_of k kc h L b x y' Fb Cx Hy') as [S1 S2]. split; [exact S1|]. pose proof (Rabs_pos (V x)).
    assert (A0 : 0 <= Rsum (map (fun e => Rabs (exact_value d e)) b)) by (apply Rsum_nonneg; intros; apply Rabs_pos). nra.
Qed.

(** From c = 0. *)
Theorem order_error_from_zero bs w x z k kc h k1 kc1 h1 k0 : Forall in_order bs -> decode (start_format d) w = Num x -> V x = 0 ->
  first_losses = Some (k1, kc1, h1) -> later_losses = Some (k, kc, h) -> (k1 <= k0)%Z -> enough k0 (k, kc, h) = true ->
  in_turn d bs (Num x) = Num z -> bs <> [] ->
  let m := Nat.pred (length bs) in
  Rabs (V z - Rsum (map (exact_value d) (concat bs))) <=
    ((1 + fixed k0) * (1 + fixed kc) ^ m - 1) * Rsum (map (fun e => Rabs (exact_value d e)) (concat bs)) +
    ((1 + fixed kc) ^ m * (fixed h1 * u) + fixed h * u * geometric (fixed kc) m).
Proof.
  intros F D X L0 L K10 En R N m. destruct bs as [|b bs]; [congruence|]. unfold m. cbn [length Nat.pred].
  assert (Fx : flush (c_rule d) (Num x) = Num x).
  { unfold flush. unfold is_subnormal. rewrite (V_nothing x X). reflexivity. }
  pose proof (start_ready w x D x Fx) as Cx. pose proof F as F'. apply Forall_cons_iff in F'. destruct F' as [Fb Fr].
  destruct (is_num (block_value d (Num x) b)) eqn:Nb.
  2: { exfalso. unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d bs (block_value d (Num x) b)) in R.
       pose proof (stays_in_turn d in_order (fun v b Hb Nv => not_num_block b v Hb Nv) bs _ Fr Nb) as Q. rewrite R in Q. discriminate Q. }
  destruct (block_value d (Num x) b) as [q| |] eqn:Ey; try discriminate.
  destruct (block_loses b x some_c q k kc h Fb Cx (c_related x Cx) L Ey) as [[G1 G1'] [G2 _]].
  destruct (block_loses b x plus_zero_bound q k1 kc1 h1 Fb Cx (zero_related x X) L0 Ey) as [[H1 _] [H2 _]].
  pose proof (fix_le _ _ K10) as Q1. pose proof (enough_grows k0 k kc h En) as Q2.
  pose proof (blocks_grow_after d (exact_value d) in_order c_ready (fixed k) (fixed kc) (fixed h * u) G1' G2 (step_of k kc h L)
    (fun v b Hb Nv => not_num_block b v Hb Nv) b bs x z 0 0 (fixed k0) (fixed h1 * u) ltac:(lra) H2 Q2 F) as G.
  rewrite Rabs_R0, !Rplus_0_l in G. apply G; auto; [lra|].
  intros y Hy. destruct (block_loses b x plus_zero_bound y k1 kc1 h1 Fb Cx (zero_related x X) L0 Hy) as [_ [_ [G3 G4]]]. split; [exact G3|].
  rewrite X, Rabs_R0, Rmult_0_r, !Rplus_0_l in G4.
  assert (A0 : 0 <= Rsum (map (fun e => Rabs (exact_value d e)) b)) by (apply Rsum_nonneg; intros; apply Rabs_pos). nra.
Qed.

(** From words, calls of one kind: full blocks, products with leading bits where sums cut them. *)
Definition words_ok (w : words) : Prop := pairs w <> [] /\ full d w /\ (cuts d = true -> Forall (leading_element d) (elements d w)).

Lemma words_in_order w : words_ok w -> Forall in_order (blocks_of_word d w) /\ blocks_of_word d w <> [] /\ concat (blocks_of_word d w) = elements d w.
Proof.
  intros [N [Fu Le]]. destruct order_parts as [_ [_ [Bn _]]].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  assert (Ne : elements d w <> []).
  { intros Q. pose proof (elements_length d w) as L. rewrite Q in L. destruct (pairs w); [congruence|discriminate L]. }
  split; [|split; [intros Q; rewrite Q in Cc; now symmetry in Cc|exact Cc]].
  apply Forall_forall. intros b Hb. assert (I : forall e, In e b -> In e (elements d w)) by (intros e He; rewrite <- Cc; apply in_concat; eauto).
  split; [unfold full in Fu; rewrite Forall_forall in Fu; now apply Fu|]. split.
  - apply Forall_forall. intros e He. pose proof (elements_made d w) as M. rewrite Forall_forall in M. auto.
  - intros Cu. specialize (Le Cu). rewrite Forall_forall in *. auto.
Qed.

Theorem ordered_error k kc h k0 w x z : later_losses = Some (k, kc, h) -> (k <= k0)%Z -> (kc <= k0)%Z -> composed d = None ->
  skips d = false -> words_ok w -> first_c d w = Num x -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - (V x + Rsum (map (exact_value d) (elements d w)))) <=
    ((1 + fixed k0) * (1 + fixed kc) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (exact_value d e)) (elements d w))) +
    ((1 + fixed kc) ^ m * (fixed h * u) + fixed h * u * geometric (fixed kc) m).
Proof.
  intros L K0k K0c Co Sk Wo Fc Vz m. destruct (words_in_order w Wo) as [F [Ne Cc]]. unfold value in Vz. rewrite Co in Vz.
  change (in_turn d (blocks_of_word d w) (decode (c_format d) (c_word w)) = Num z) in Vz.
  pose proof (order_error (blocks_of_word d w) _ (c_word w) x z k kc h k0 Sk F eq_refl) as G. unfold start_format in G. rewrite Co in G.
  specialize (G Fc L K0k K0c Vz Ne). cbv zeta in G. rewrite Cc in G. exact G.
Qed.

Theorem ordered_error_from_zero k kc h k1 kc1 h1 k0 w x z : first_losses = Some (k1, kc1, h1) -> later_losses = Some (k, kc, h) ->
  (k1 <= k0)%Z -> enough k0 (k, kc, h) = true -> composed d = None -> words_ok w -> decode (c_format d) (c_word w) = Num x -> is_zero x = true ->
  value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - Rsum (map (exact_value d) (elements d w))) <=
    ((1 + fixed k0) * (1 + fixed kc) ^ m - 1) * Rsum (map (fun e => Rabs (exact_value d e)) (elements d w)) +
    ((1 + fixed kc) ^ m * (fixed h1 * u) + fixed h * u * geometric (fixed kc) m).
Proof.
  intros L0 L K10 En Co Wo Dc Zx Vz m. destruct (words_in_order w Wo) as [F [Ne Cc]]. unfold value in Vz. rewrite Co, Dc in Vz.
  change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  pose proof (order_error_from_zero (blocks_of_word d w) (c_word w) x z k kc h k1 kc1 h1 k0 F) as G. unfold start_format in G. rewrite Co in G.
  specialize (G Dc (V_zero x Zx) L0 L K10 En Vz Ne). cbv zeta in G. rewrite Cc in G. exact G.
Qed.
End Design.
