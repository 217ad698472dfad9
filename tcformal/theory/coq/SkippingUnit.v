(** From the cut points of a circuit to the words of a design whose blocks are skipped where all their words of A, or of B, are 0: each
    block is a unit of its own, from the word before to the next. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals FMapPositive.
From TC Require Import Unit Spec Theorems Design Designs Rounded Bv Circuit Finish Fused Leaves Stage TermSums StickyUnit.
Import ListNotations.
Open Scope Z_scope.

(** A design that skips no block. *)
Definition never_skipping (d : design) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d; converted := converted d; factors := factors d;
     cutting_of := cutting_of d; block := block d; Design.odd_first := Design.odd_first d; skips := false; c_rule := c_rule d; sums := sums d;
     Design.nan_word := Design.nan_word d; nans := nans d; composed := composed d |}.

Definition format_eqb (f g : format) : bool :=
  (ebits f =? ebits g) && (fbits f =? fbits g) && (bias f =? bias g) && match special f, special g with IEEE, IEEE => true | _, _ => false end &&
  eqb (has_sign f) (has_sign g) && eqb (has_zero f) (has_zero g) && eqb (subnormals f) (subnormals g) && (ignored f =? ignored g).
Lemma format_is f g : format_eqb f g = true -> f = g.
Proof.
  unfold format_eqb. rewrite !andb_true_iff, !Z.eqb_eq. destruct f as [a b c s h z u i], g as [a' b' c' s' h' z' u' i']; cbn. intros [[[[[[[A B] C] S] H] Z0] U] I].
  apply eqb_prop in H, Z0, U. destruct s, s'; try easy. now subst.
Qed.

Definition one_sum (d : design) : sum := match sums d with OneSum (Stage s) => s | _ => the_sticky d end.

(** Designs of one sum in each block, whose results are words that are read again. *)
Definition skipping_design (d : design) : bool :=
  none_of (composed d) && match nans d with OneWord => true | _ => false end && negb (Design.odd_first d) && none_of (scales d) && match cutting_of d with Whole => true | _ => false end &&
  negb (odd_negated (factors d)) && negb (even_negated (factors d)) && none_of (zero_terms (factors d)) && rule_ok (c_rule d) && match sums d with OneSum (Stage _) => true | _ => false end &&
  regular (one_sum d) && Words.holds (d_format d) (out (one_sum d)) && format_eqb (c_format d) (d_format d) && format_ok (d_format d) &&
  match decode (d_format d) (Design.nan_word d) with NaN => true | _ => false end && (0 <? block d)%nat.

(** * Words that are read again *)

Lemma encode_decoded f w n : special f = IEEE -> has_sign f = true -> has_zero f = true -> subnormals f = true -> ignored f = 0 -> format_ok f = true -> 0 <= w < 2 ^ word_width f ->
  (decode f w = NaN -> n = w) -> encode f n (decode f w) = w.
Proof.
  intros S H Z0 U I F W N. unfold format_ok in F. rewrite !andb_true_iff, !Z.leb_le in F. destruct F as [[_ FB] EB]. unfold word_width in W. rewrite I in W. rewrite Z.add_0_l in W.
  unfold decode in *. rewrite S, H, Z0, U, I in *. change (2 ^ 0) with 1 in *. rewrite Z.div_1_r in *. set (fb := fbits f) in *. set (eb := ebits f) in *.
  set (b := 2 ^ fb) in *. set (E := 2 ^ eb) in *. assert (PB : 0 < b) by (apply pow2_pos; lia). assert (PE : 0 < E) by (apply pow2_pos; lia).
  assert (C : 2 ^ (eb + fb) = E * b) by (unfold E, b; now rewrite <- Z.pow_add_r by lia). rewrite C in *.
  assert (W2 : w < 2 * (E * b)). { rewrite <- C. replace (fb + eb + 1) with (Z.succ (eb + fb)) in W by lia. rewrite Z.pow_succ_r in W by lia. lia. }
  set (sb := w / (E * b)) in *. set (code := w mod (E * b)) in *. pose proof (Z.div_mod w (E * b) ltac:(nia)) as DM. fold sb code in DM. pose proof (Z.mod_pos_bound w (E * b) ltac:(nia)) as MB. fold code in MB.
  assert (S2 : sb = 0 \/ sb = 1) by nia. set (e := code / b) in *. set (t := code mod b) in *. pose proof (Z.div_mod code b ltac:(lia)) as DC. fold e t in DC. pose proof (Z.mod_pos_bound code b PB) as TB. fold t in TB.
  assert (E0 : 0 <= e < E). { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia. }
  rewrite andb_true_r in *. cbn [andb] in *.
  assert (SB : (if sb =? 1 then E else 0) = sb * E) by (destruct S2 as [S2|S2]; rewrite S2; [reflexivity|]; change (1 =? 1) with true; cbv iota; lia).
  unfold encode. fold fb eb. rewrite I. change (2 ^ 0) with 1. fold E b. fold fb eb in N. fold E b in N.
  destruct (Z.eqb_spec e (E - 1)) as [Q|Q].
  - destruct (Z.eqb_spec t 0) as [T|T]; [|now apply N]. rewrite SB. nia.
  - destruct (Z.eqb_spec e 0) as [Q0|Q0]; cbn [neg sig exp frac]; rewrite Z.sub_diag; unfold round_div; cbn [Z.leb Z.compare Z.opp]; rewrite Z.shiftl_0_r.
    + destruct (Z.ltb_spec t b); [|lia]. rewrite SB. nia.
    + destruct (Z.ltb_spec (t + b) b); [lia|]. rewrite SB. replace (e - bias f + bias f) with e by lia. nia.
Qed.

Lemma decode_infinite f s n : special f = IEEE -> has_sign f = true -> ignored f = 0 -> format_ok f = true -> decode f (encode f n (Inf s)) = Inf s.
Proof.
  intros S H I F. unfold format_ok in F. rewrite !andb_true_iff, !Z.leb_le in F. destruct F as [[_ FB] EB]. unfold encode, decode. rewrite S, H, I. change (2 ^ 0) with 1. rewrite Z.div_1_r.
  set (b := 2 ^ fbits f). set (E := 2 ^ ebits f). assert (PB : 0 < b) by (apply pow2_pos; lia). assert (PE : 1 < E) by (apply Z.pow_gt_1; lia).
  assert (C : 2 ^ (ebits f + fbits f) = E * b) by (unfold E, b; now rewrite <- Z.pow_add_r by lia). rewrite C. set (w := ((if s then E else 0) + (E - 1)) * b + 0).
  replace (w * 1) with w by lia.
  assert (D1 : w / (E * b) = if s then 1 else 0) by (symmetry; apply Z.div_unique with ((E - 1) * b); [left; nia|unfold w; destruct s; ring]).
  assert (D2 : w mod (E * b) = (E - 1) * b) by (rewrite Z.mod_eq, D1 by nia; unfold w; destruct s; ring).
  rewrite D1, D2. rewrite Z.div_mul, Z.mod_mul by lia. rewrite !Z.eqb_refl. f_equal. now destruct s.
Qed.

(** * Steps from word to word *)

Section Steps.
Variable d : design.
Hypothesis D : skipping_design d = true.
Let s := one_sum d.

Definition pair_value (ab : Z * Z) : val :=
  scaled_product (factors d) (a_of d {| index := 0; Design.a_word := fst ab; Design.b_word := snd ab; scaled_by := [] |})
    (b_of d {| index := 0; Design.a_word := fst ab; Design.b_word := snd ab; scaled_by := [] |}) 0 [].
Definition idle (l : list (Z * Z)) : bool := forallb (fun ab => fst ab =? 0) l || forallb (fun ab => snd ab =? 0) l.
Definition sum_from (v : val) (l : list (Z * Z)) : val := sum_values s (map pair_value l ++ [flush (c_rule d) v]).
Definition word_step (skipping : bool) (st : val * Z) (l : list (Z * Z)) : val * Z :=
  if skipping && idle l then st else let r := sum_from (fst st) l in (r, if Design.is_nan r then Design.nan_word d else snd st).

Lemma skipping_parts : (composed d = None /\ nans d = OneWord /\ Design.odd_first d = false /\ scales d = None /\ cutting_of d = Whole) /\
  (odd_negated (factors d) = false /\ even_negated (factors d) = false /\ zero_terms (factors d) = None /\ rule_ok (c_rule d) = true /\ sums d = OneSum (Stage s)) /\
  regular s = true /\ Words.holds (d_format d) (out s) = true /\ c_format d = d_format d /\ format_ok (d_format d) = true /\ decode (d_format d) (Design.nan_word d) = NaN /\ (0 < block d)%nat.
Proof.
  pose proof D as Q. unfold skipping_design in Q. fold s in Q. rewrite !andb_true_iff, !negb_true_iff in Q. repeat match goal with H : _ /\ _ |- _ => destruct H end.
  split; [repeat split; auto; [destruct (composed d)|destruct (nans d)|destruct (scales d)|destruct (cutting_of d)]; easy|].
  split; [repeat split; auto; [destruct (zero_terms (factors d)); easy|unfold s, one_sum; destruct (sums d) as [[]| | | | | | | |]; easy]|].
  repeat split; auto; [now apply format_is|destruct (decode (d_format d) (Design.nan_word d)); easy|now apply Nat.ltb_lt].
Qed.

Definition words_pair (y : element) : Z * Z := (Design.a_word y, Design.b_word y).

Lemma step_is e st b : (e = d \/ e = never_skipping d) -> Forall (fun y => scaled_by y = []) b -> block_step e st b = word_step (skips e) st (map words_pair b).
Proof.
  intros E SB. destruct skipping_parts as [[P1 [P2 [P3 [P4 P5]]]] [[F1 [F2 [F3 [_ SS]]]] _]].
  assert (Q : factors e = factors d /\ nans e = nans d /\ Design.odd_first e = Design.odd_first d /\ cutting_of e = cutting_of d /\ sums e = sums d /\ c_rule e = c_rule d /\ Design.nan_word e = Design.nan_word d /\
    (forall y, a_of e y = a_of d y) /\ (forall y, b_of e y = b_of d y)) by (destruct E as [-> | ->]; repeat split).
  destruct Q as [Q1 [Q2 [Q3 [Q4 [Q5 [Q6 [Q7 [Q8 Q9]]]]]]]]. destruct st as [v n]. unfold block_step, word_step. cbn [fst snd].
  assert (ID : idle (map words_pair b) = forallb (fun y => Design.a_word y =? 0) b || forallb (fun y => Design.b_word y =? 0) b) by (unfold idle; rewrite !forallb_map; reflexivity).
  rewrite ID. destruct (skips e && _); [reflexivity|]. rewrite Q1, Q3, P3, F3, zero_as_none, Q6.
  assert (T : terms e b = (map pair_value (map words_pair b), None)).
  { unfold terms. rewrite Q4, P5. f_equal. rewrite map_map. apply map_ext_in. intros y I. rewrite Forall_forall in SB. rewrite (SB y I), Q1, Q8, Q9. unfold pair_value, scaled_product, subtracted. rewrite F1, F2.
    replace (if Z.odd (index y) then false else false) with false by now destruct (Z.odd (index y)). replace (if Z.odd 0 then false else false) with false by reflexivity. reflexivity. }
  rewrite T. cbv zeta. rewrite Q5, SS. cbn [block_sum add_from add]. fold (sum_from v (map words_pair b)). rewrite Q2, P2, Q7. now destruct (Design.is_nan _).
Qed.

Lemma elements_pairs e w : (e = d \/ e = never_skipping d) -> map words_pair (elements e w) = pairs w /\ Forall (fun y => scaled_by y = []) (elements e w).
Proof.
  intros E. destruct skipping_parts as [[_ [_ [_ [P4 _]]]] _]. assert (Q : scales e = None) by (destruct E as [-> | ->]; exact P4). unfold elements. rewrite Q. split.
  - rewrite map_map. rewrite <- (numbered_snd (pairs w) 0) at 2. apply map_ext. intros [n [a b]]. reflexivity.
  - apply Forall_forall. intros y I. apply in_map_iff in I. destruct I as [[n [a b]] [<- _]]. reflexivity.
Qed.

Lemma compute_steps e w : (e = d \/ e = never_skipping d) ->
  compute e w = let '(v, n) := fold_left (word_step (skips e)) (cut_list (length (pairs w)) (block d) (pairs w)) (decode (c_format d) (Design.c_word w), Design.c_word w) in encode (d_format d) n v.
Proof.
  intros E. destruct skipping_parts as [[P1 [P2 _]] _]. destruct (elements_pairs e w E) as [EP ES].
  assert (Q : composed e = None /\ nans e = OneWord /\ block e = block d /\ c_format e = c_format d /\ d_format e = d_format d) by (destruct E as [-> | ->]; repeat split; assumption).
  destruct Q as [Q1 [Q2 [Q3 [Q4 Q5]]]]. unfold compute, blocks, start_of. rewrite Q1, Q2, Q3, Q4, Q5. cbv zeta. set (els := elements e w) in *.
  assert (LE : length (pairs w) = length els) by (rewrite <- EP; now rewrite map_length). rewrite LE, <- EP, <- (Unit.cut_list_map words_pair).
  assert (G : forall bs st, Forall (Forall (fun y => scaled_by y = [])) bs -> fold_left (block_step e) bs st = fold_left (word_step (skips e)) (map (map words_pair) bs) st).
  { induction bs as [|b bs IH]; intros st F; auto. cbn [fold_left map]. rewrite (step_is e st b E (Forall_inv F)). apply IH. exact (Forall_inv_tail F). }
  rewrite G; [reflexivity|]. now apply cut_list_Forall.
Qed.

(** The word between two blocks. *)
Record stands_for (st : val * Z) (word : Z) : Prop := {
  w_word : encode (d_format d) (snd st) (fst st) = word;
  w_same : same_val (fst st) (decode (d_format d) word);
  w_sig : forall y, fst st = Num y -> 0 <= sig y
}.

Lemma flush_keeps_same v w : same_val v w -> (forall y, v = Num y -> 0 <= sig y) -> (forall y, w = Num y -> 0 <= sig y) -> same_val (flush (c_rule d) v) (flush (c_rule d) w).
Proof.
  intros H PV PW. destruct skipping_parts as [_ [[_ [_ [_ [RO_ _]]]] _]]. destruct v as [y|t|], w as [z|t'|]; try easy. cbn [same_val] in H. pose proof (same_subnormal y z (PV y eq_refl) (PW z eq_refl) H) as SU.
  cbn [flush]. rewrite SU. destruct (negb (is_subnormal z)); [exact H|]. destruct H as [N [E V_]]. destruct (c_rule d); try easy; cbn [same_val]; repeat split; cbn [neg exp]; auto; unfold V, signed; cbn [neg sig]; try (destruct (neg y), (neg z)); change (- 0) with 0; now rewrite !Rmult_0_l.
Qed.

Lemma decoded_sig w y : decode (d_format d) w = Num y -> 0 <= w < 2 ^ word_width (d_format d) -> 0 <= sig y.
Proof.
  destruct skipping_parts as [_ [_ [_ [_ [_ [FO _]]]]]]. intros H _. unfold format_ok in FO. rewrite !andb_true_iff, !Z.leb_le in FO. destruct FO as [[_ FB] _].
  unfold decode in H. cbv zeta in H. pose proof (pow2_pos (fbits (d_format d)) FB) as P. set (t := (_ mod _) mod 2 ^ fbits (d_format d)) in H. assert (T0 : 0 <= t) by (apply Z.mod_pos_bound; exact P).
  destruct (special (d_format d)); repeat match type of H with context [if ?q then _ else _] => destruct q end; try discriminate H; injection H as <-; cbn [sig]; lia.
Qed.

Theorem next_word st word l next : stands_for st word -> 0 <= word < 2 ^ word_width (d_format d) -> (0 < length l <= block d)%nat ->
  (idle l = false -> next = compute (never_skipping d) {| pairs := l; Design.c_word := word; scale_words := [] |}) -> (idle l = true -> next = word) -> stands_for (word_step true st l) next.
Proof.
  intros [WW WS SG] WR L NI II. unfold word_step. cbn [andb]. destruct (idle l) eqn:ID; [rewrite (II eq_refl); now constructor|]. specialize (NI eq_refl).
  rewrite (compute_steps (never_skipping d)) in NI by now right. cbn [pairs Design.c_word skips never_skipping] in NI. 
  destruct skipping_parts as [_ [[_ [_ [_ [RO_ SS]]]] [RG [HO [CF [FO [NW _]]]]]]].
  assert (C1 : cut_list (length l) (block d) l = [l]).
  { destruct l as [|y k] eqn:Q; [cbn [length] in L; lia|]. cbn [length cut_list]. cbn [length] in L. rewrite firstn_all2 by (cbn [length]; lia). rewrite skipn_all2 by (cbn [length]; lia). now destruct (length k). }
  rewrite C1 in NI. cbn [fold_left] in NI. unfold word_step in NI. cbn [andb fst snd] in NI. rewrite CF in NI.
  assert (SR : sum_from (decode (d_format d) word) l = sum_from (fst st) l).
  { unfold sum_from. apply regular_same; [exact RG|]. apply Forall2_app.
    - clear. induction (map pair_value l); constructor; auto. apply same_refl.
    - constructor; [|constructor]. apply flush_keeps_same; auto. { destruct (fst st), (decode (d_format d) word); cbn [same_val] in *; try easy; destruct WS as [A [B C]]; repeat split; auto. } intros y H. exact (decoded_sig _ _ H WR). }
  rewrite SR in NI. set (r := sum_from (fst st) l) in *. cbv zeta in NI |- *.
  assert (RW : next = encode (d_format d) (Design.nan_word d) r). { rewrite NI. destruct (Design.is_nan r) eqn:Q; [reflexivity|]. now apply encode_not_nan. }
  pose proof HO as HO'. unfold Words.holds in HO'. rewrite !andb_true_iff in HO'. destruct HO' as [[[[[[[[[Sp Hs] Hz] Sb] Ig] Pp] _] _] _] _]. apply Z.eqb_eq in Ig. apply Z.leb_le in Pp. assert (SpI : special (d_format d) = IEEE) by (destruct (special (d_format d)); easy).
  constructor; cbn [fst snd].
  - rewrite RW. destruct (Design.is_nan r) eqn:Q; [reflexivity|]. now apply encode_not_nan.
  - rewrite RW. destruct r as [y|t|] eqn:R.
    + assert (CV : exists sg n u, convert (out s) sg n u = Num y).
      { unfold r, sum_from, sum_values in R. destruct (numbers _) as [ts|]; [unfold sum_numbers in R; eauto|]. exfalso. revert R. unfold special_sum. destruct (existsb _ _); [easy|]. destruct (existsb _ _), (existsb _ _); easy. }
      destruct CV as [sg [n [u CV]]]. destruct (encode_decode _ _ _ _ _ _ (Design.nan_word d) HO CV) as [z [Dz [Vz [Nz Ez]]]]. rewrite Dz. cbn [same_val]. repeat split; congruence.
    + rewrite decode_infinite by auto. reflexivity.
    + cbn [encode]. rewrite NW. exact I.
  - intros y R. unfold r, sum_from in R. exact (sum_nonneg s _ y Pp R).
Qed.

Lemma first_word word : 0 <= word < 2 ^ word_width (d_format d) -> stands_for (decode (c_format d) word, word) word.
Proof.
  intros W. destruct skipping_parts as [_ [_ [_ [HO [CF [FO _]]]]]]. rewrite CF. unfold Words.holds in HO. rewrite !andb_true_iff in HO. destruct HO as [[[[[[[[[Sp Hs] Hz] Sb] Ig] _] _] _] _] _]. apply Z.eqb_eq in Ig.
  constructor; cbn [fst snd].
  - apply encode_decoded; auto. destruct (special (d_format d)); easy.
  - apply same_refl.
  - intros y H. exact (decoded_sig _ _ H W).
Qed.
End Steps.

(** * Units *)

(** Of each block: the unit from the word before it to the word of its sum, and its word. *)
Definition skipping_unit := list (unit_plan * positive).

Definition unit_pairs (u : unit_plan) (v : env) : list (Z * Z) := combine (map v (Unit.a_nodes u)) (map v (Unit.b_nodes u)).
Definition skipping_words (c : positive) (l : skipping_unit) (v : env) : words :=
  {| pairs := concat (map (fun uw => unit_pairs (fst uw) v) l); Design.c_word := v c; scale_words := [] |}.
Definition last_word (c : positive) (l : skipping_unit) : positive := List.last (map snd l) c.

Section Units.
Variables (ct : circuit) (d : design).
Let m := widths_of ct.

Definition nothing_in (l : list positive) : formula := all_of (map (fun i => Equal (U i) (Num_ 0)) l).
Definition skip_claim (uw : unit_plan * positive) : claim :=
  let u := fst uw in
  Claim [] (Equal (U (snd uw)) (If (Either (nothing_in (Unit.a_nodes u)) (nothing_in (Unit.b_nodes u))) (U (c_input u)) (U (root u)))).
Definition skipping_claims (l : skipping_unit) : list claim := flat_map (fun uw => unit_claims ct (never_skipping d) (fst uw) ++ [skip_claim uw]) l.

Definition word_node (i : positive) : bool := in_circuit m i && (width_in m i <=? word_width (d_format d)).
Fixpoint chained (c : positive) (l : skipping_unit) : bool :=
  match l with
  | [] => true
  | (u, w) :: r =>
      (c_input u =? c)%positive && unit_ok ct (never_skipping d) u && match Unit.scale_nodes u with [] => true | _ => false end && word_node w &&
      (length (Unit.a_nodes u) =? block d)%nat && (length (Unit.b_nodes u) =? block d)%nat && chained w r
  end.
Definition skipping_fine (c : positive) (l : skipping_unit) : bool := circuit_ok ct && skipping_design d && word_node c && chained c l.
End Units.

Lemma cut_concat {A} n (bs : list (list A)) : (0 < n)%nat -> Forall (fun b => length b = n) bs -> forall k, (length (concat bs) <= k)%nat -> cut_list k n (concat bs) = bs.
Proof.
  intros N F. induction F as [|b bs L F IH]; intros k K; [now destruct k|]. cbn [concat] in *. rewrite app_length in K. destruct k as [|k]; [lia|].
  destruct (b ++ concat bs) as [|y r] eqn:Q; [apply (f_equal (@length _)) in Q; rewrite app_length in Q; cbn [length] in Q; lia|]. cbn [cut_list]. rewrite <- Q.
  rewrite firstn_app, <- L, firstn_all, Nat.sub_diag, firstn_O, app_nil_r. rewrite skipn_app, skipn_all, Nat.sub_diag. cbn [skipn app]. f_equal. rewrite L. apply IH. lia.
Qed.

Section Sound.
Variables (ct : circuit) (d : design) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis D : skipping_design d = true.

Lemma word_range i : word_node ct d i = true -> 0 <= v i < 2 ^ word_width (d_format d).
Proof. unfold word_node. rewrite andb_true_iff, Z.leb_le. intros [I L]. destruct (in_map_fits ct v SOL CIRC i I) as [A B]. split; auto. eapply Z.lt_le_trans; [exact B|]. apply Z.pow_le_mono_r; lia. Qed.

Lemma chain_stands l : forall c st, word_node ct d c = true -> chained ct d c l = true -> Forall (holds ct) (skipping_claims ct d l) -> stands_for d st (v c) ->
  stands_for d (fold_left (word_step d true) (map (fun uw => unit_pairs (fst uw) v) l) st) (v (last_word c l)).
Proof.
  induction l as [|[u w] l IH]; intros c st WC CH CL ST; [exact ST|]. cbn [chained] in CH. rewrite !andb_true_iff in CH. destruct CH as [[[[[[C1 C2] C3] C4] C5] C6] C7].
  apply Pos.eqb_eq in C1. apply Nat.eqb_eq in C5, C6. unfold skipping_claims in CL. cbn [flat_map fst] in CL. rewrite !Forall_app in CL. destruct CL as [[CU CS] CR].
  cbn [map fold_left fst]. 
  assert (LW : last_word c ((u, w) :: l) = last_word w l) by (unfold last_word; cbn [map snd]; clear; revert w; induction (map snd l) as [|y r IHr]; intros w; auto; cbn [List.last] in *; destruct r; auto; apply (IHr w)).
  rewrite LW. apply IH; auto. destruct (skipping_parts d D) as [_ [_ [_ [_ [_ [_ [_ PB]]]]]]].
  assert (LP : length (unit_pairs u v) = block d) by (unfold unit_pairs; rewrite combine_length, !map_length; lia).
  pose proof (Forall_inv CS v SOL eq_refl) as SK. cbn [skip_claim goal fst snd] in SK. change (truth (widths_of ct) v (Equal ?a ?b)) with (value m v a =? value m v b) in SK. apply Z.eqb_eq in SK.
  change (value m v (If ?f ?a ?b)) with (if truth m v f then value m v a else value m v b) in SK. cbn [value] in SK.
  assert (NN : forall q, truth m v (nothing_in q) = forallb (fun z => z =? 0) (map v q)) by (intros q; unfold nothing_in; rewrite truth_all, !forallb_map; reflexivity).
  assert (ID : truth m v (Either (nothing_in (Unit.a_nodes u)) (nothing_in (Unit.b_nodes u))) = idle (unit_pairs u v)).
  { change (truth m v (Either ?a ?b)) with (truth m v a || truth m v b). rewrite !NN. unfold idle, unit_pairs.
    assert (G : forall (a b : list Z), length a = length b -> forallb (fun ab : Z * Z => fst ab =? 0) (combine a b) = forallb (fun z => z =? 0) a /\ forallb (fun ab : Z * Z => snd ab =? 0) (combine a b) = forallb (fun z => z =? 0) b).
    { clear. induction a as [|y a IH]; intros b L; destruct b; try easy. cbn [combine forallb fst snd]. destruct (IH b ltac:(now injection L)) as [A B]. now rewrite A, B. }
    destruct (G (map v (Unit.a_nodes u)) (map v (Unit.b_nodes u)) ltac:(rewrite !map_length; lia)) as [-> ->]. reflexivity. }
  rewrite ID in SK. apply (next_word d D st (v c)); auto.
  - now apply word_range.
  - lia.
  - intros I0. rewrite I0 in SK. rewrite SK, (words_to_words ct (never_skipping d) u C2 CU v SOL). f_equal. unfold words_in, unit_pairs. rewrite C1. now destruct (Unit.scale_nodes u).
  - intros I1. rewrite I1 in SK. now rewrite SK, C1.
Qed.
End Sound.

(** A unit computes what its design does, for all words; with the claims as they were certified. *)
Theorem skipping_words_to_words ct d c l certified : skipping_fine ct d c l = true -> claims_eqb (skipping_claims ct d l) certified = true -> Forall (holds ct) certified ->
  skips d = true -> forall v, solution ct v -> v (last_word c l) = compute d (skipping_words c l v).
Proof.
  intros OK E. rewrite <- (claims_are _ _ E). intros CL SK v SOL. unfold skipping_fine in OK. rewrite !andb_true_iff in OK. destruct OK as [[[CI DE] WC] CH].
  rewrite (compute_steps d DE d _ (or_introl eq_refl)). cbn [skipping_words pairs Design.c_word]. destruct (skipping_parts d DE) as [_ [_ [_ [_ [_ [_ [_ PB]]]]]]].
  assert (LS : Forall (fun b => length b = block d) (map (fun uw => unit_pairs (fst uw) v) l)).
  { clear -CH. revert c CH. induction l as [|[u w] l IH]; intros c CH; [constructor|]. cbn [chained] in CH. rewrite !andb_true_iff in CH. destruct CH as [[[_ C5] C6] C7]. apply Nat.eqb_eq in C5, C6. cbn [map fst]. constructor; [|exact (IH w C7)].
    unfold unit_pairs. rewrite combine_length, !map_length. lia. }
  rewrite (cut_concat (block d) _ PB LS) by lia. rewrite SK.
  pose proof (chain_stands ct d v SOL CI DE l c _ WC CH CL (first_word d DE (v c) (word_range ct d v SOL CI c WC))) as ST.
  destruct (fold_left _ _ _) as [r n]. symmetry. exact (w_word _ _ _ ST).
Qed.
