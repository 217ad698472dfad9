(** From the cut points of a circuit to the words of a design of one block: zeros that count as ones of a given exponent,
    and one sum with a bit for all that alignment cuts off. *)
From Coq Require Import ZArith List Bool Lia Psatz FMapPositive.
From TC Require Import Spec Theorems Design Designs Rounded Bv Circuit Finish Fused Leaves Stage RoundDown Unit TermSums.
Import ListNotations.
Open Scope Z_scope.

(** * Designs of one block *)

(** The sum of the elements of a block; every NaN is one word. *)
Definition sum_of_block (d : design) (els : list element) (w : Z) : val :=
  let c := flush (c_rule d) (decode (c_format d) w) in
  let c := zero_as (zero_terms (factors d)) (as_one (num_of c)) c in
  let '(ps, e) := terms d els in block_sum (sums d) (c_rule d) e (whole_factors d els) ps c.

Definition one_block (d : design) : bool :=
  none_of (composed d) && match nans d with OneWord => true | _ => false end && negb (Design.odd_first d) && negb (skips d).

Lemma compute_one_block d w : one_block d = true -> (0 < length (pairs w) <= block d)%nat ->
  compute d w = encode (d_format d) (Design.nan_word d) (sum_of_block d (elements d w) (Design.c_word w)).
Proof.
  unfold one_block. rewrite !andb_true_iff, !negb_true_iff. intros [[[A B] C] E] L. unfold compute. cbv zeta. set (els := elements d w).
  assert (LE : length els = length (pairs w)) by (unfold els, elements; rewrite map_length, <- (map_length snd (numbered 0 (pairs w))), numbered_snd; reflexivity).
  destruct (composed d); [easy|]. unfold blocks.
  assert (CL : cut_list (length els) (block d) els = [els]).
  { destruct els as [|x l] eqn:Q; [simpl in LE; lia|]. cbn [length cut_list]. simpl in LE. rewrite firstn_all2 by (simpl; lia). rewrite skipn_all2 by (simpl; lia). now destruct (length l). }
  rewrite CL. cbn [fold_left]. unfold block_step, start_of. destruct (nans d); try easy. rewrite C, E. cbn [andb fst snd]. unfold sum_of_block.
  destruct (terms d els) as [ps e]. set (r := block_sum _ _ _ _ _ _). destruct (Design.is_nan r) eqn:Q; cbn [negb]; [now destruct (sums d)|now apply encode_not_nan].
Qed.

(** A word of a node. *)
Definition word_fine (m : widths) (f : format) (i : positive) : bool := format_ok f && in_circuit m i && (width_in m i <=? word_width f).

(** * Values as formulas *)

(** A subnormal as any rule has it. *)
Definition shown_rule (r : flush_rule) (x : shown) : shown :=
  let subnormal := Both (Negation (s_inf x)) (Both (Negation (Equal (s_sig x) (Num_ 0))) (Less (s_sig x) (Num_ (2 ^ s_frac x)))) in
  match r with
  | HiddenBit => Shown (s_nan x) (s_inf x) (s_neg x) (If subnormal (Plus (s_sig x) (Num_ (2 ^ s_frac x))) (s_sig x))
                   (If subnormal (Plus (s_exp x) (Num_ (-1))) (s_exp x)) (s_frac x)
  | _ => shown_flush r x
  end.

Lemma rule_shown m v r x : 0 <= s_frac x -> 0 <= value m v (s_sig x) -> flush r (val_of m v x) = val_of m v (shown_rule r x).
Proof.
  intros F S. destruct r; try (now apply flush_shown).
  unfold val_of; cbn [shown_rule s_nan s_inf s_neg s_sig s_exp s_frac]. destruct (truth m v (s_nan x)); [reflexivity|]. destruct (truth m v (s_inf x)) eqn:I; [reflexivity|].
  cbn [flush]. unfold is_subnormal, is_zero; cbn [sig frac neg exp].
  assert (L : negb (value m v (s_sig x) =? 0) && (Z.log2 (value m v (s_sig x)) <? s_frac x) = negb (value m v (s_sig x) =? 0) && (value m v (s_sig x) <? 2 ^ s_frac x)).
  { destruct (Z.eqb_spec (value m v (s_sig x)) 0); cbn [negb andb]; auto. destruct (Z.ltb_spec (Z.log2 (value m v (s_sig x))) (s_frac x)) as [A|A], (Z.ltb_spec (value m v (s_sig x)) (2 ^ s_frac x)) as [B|B]; auto; exfalso;
    [apply Z.log2_lt_pow2 in A; lia|apply Z.log2_lt_pow2 in B; lia]. }
  rewrite L.
  set (b := Both (Negation (s_inf x)) _). assert (BE : truth m v b = negb (value m v (s_sig x) =? 0) && (value m v (s_sig x) <? 2 ^ s_frac x)) by (unfold b; cbn [truth value]; rewrite I; reflexivity).
  change (value m v (If b ?s ?t)) with (if truth m v b then value m v s else value m v t). rewrite BE. clear L BE. destruct (negb (value m v (s_sig x) =? 0) && (value m v (s_sig x) <? 2 ^ s_frac x)); reflexivity.
Qed.

(** A zero as a 1. *)
Definition one_sig (x : shown) : term := If (Equal (s_sig x) (Num_ 0)) (Num_ (2 ^ s_frac x)) (s_sig x).
Definition shown_one (e : Z) (x : shown) : shown :=
  Shown (s_nan x) (s_inf x) (s_neg x) (one_sig x) (If (Equal (s_sig x) (Num_ 0)) (Num_ e) (s_exp x)) (s_frac x).
Definition shown_ones (e : Z) (x y : shown) : shown :=
  Shown (s_nan (shown_product x y)) (s_inf (shown_product x y)) (s_neg (shown_product x y)) (Times (one_sig x) (one_sig y))
    (If (Either (Equal (s_sig x) (Num_ 0)) (Equal (s_sig y) (Num_ 0))) (Num_ e) (Plus (s_exp x) (s_exp y))) (s_frac x + s_frac y).

Lemma one_shown m v e x : let w := val_of m v x in zero_as (Some e) (as_one (num_of w)) w = val_of m v (shown_one e x).
Proof.
  cbv zeta. unfold val_of; cbn [shown_one s_nan s_inf s_neg s_sig s_exp s_frac]. destruct (truth m v (s_nan x)); [reflexivity|]. destruct (truth m v (s_inf x)); [reflexivity|].
  cbn [num_of zero_as]. unfold as_one, is_zero, with_exponent; cbn [sig neg exp frac one_sig value truth]. destruct (value m v (s_sig x) =? 0); reflexivity.
Qed.

Lemma ones_shown m v e x y : let a := val_of m v x in let b := val_of m v y in
  zero_as (Some e) (times (as_one (num_of a)) (as_one (num_of b))) (product a b) = val_of m v (shown_ones e x y).
Proof.
  cbv zeta. rewrite product_shown. set (A := val_of m v x). set (B := val_of m v y).
  unfold val_of at 1 2. change (s_nan (shown_ones e x y)) with (s_nan (shown_product x y)). change (s_inf (shown_ones e x y)) with (s_inf (shown_product x y)).
  destruct (truth m v (s_nan (shown_product x y))) eqn:N; [reflexivity|]. destruct (truth m v (s_inf (shown_product x y))) eqn:I; [reflexivity|]. unfold A, B. clear A B.
  cbn [shown_product s_nan s_inf truth] in N, I. apply orb_false_elim in N, I. destruct N as [N _], I as [I1 I2]. apply orb_false_elim in N. destruct N as [N1 N2].
  unfold val_of. rewrite N1, N2, I1, I2. cbn [num_of zero_as shown_product shown_ones s_neg s_sig s_exp s_frac].
  unfold is_zero; cbn [sig value]. unfold with_exponent, times, as_one, is_zero; cbn [sig neg exp frac one_sig value truth].
  rewrite truth_differ. destruct (Z.eqb_spec (value m v (s_sig x)) 0) as [X|X], (Z.eqb_spec (value m v (s_sig y)) 0) as [Y|Y]; cbn [orb neg sig exp frac].
  - rewrite X, Z.mul_0_l. cbn [Z.eqb]. reflexivity.
  - rewrite X, Z.mul_0_l. cbn [Z.eqb]. reflexivity.
  - rewrite Y, Z.mul_0_r. cbn [Z.eqb]. reflexivity.
  - destruct (Z.eqb_spec (value m v (s_sig x) * value m v (s_sig y)) 0) as [Q|Q]; [apply Z.mul_eq_0 in Q; tauto|reflexivity].
Qed.

(** * Units *)

(** The words; of each factor of a product the node of its significand; the sum, the nodes of what is lost of each term. *)
Record sticky_unit := StickyUnit {
  a_nodes : list positive; b_nodes : list positive; c_node : positive;
  significands : list (positive * positive);
  the_sum : term_sum; room_bits : Z; lost_nodes : list positive; the_ending : ending; result_node : positive
}.

Definition sticky_words (u : sticky_unit) (v : env) : words :=
  {| pairs := combine (map v (a_nodes u)) (map v (b_nodes u)); c_word := v (c_node u); scale_words := [] |}.

Section Unit.
Variables (d : design) (u : sticky_unit).

Definition the_sticky : sum := match sums d with
  | StickySum s => s
  | _ => {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out :=
            {| rho := RZ; p := 0; emin := 0; emax := 0; overflow := Largest; flushes := false; tiny := false; zsign := Positive |} |}
  end.
Definition sticky_bits : Z := match fraction_bits the_sticky with Some f => f | None => 0 end.
Definition sticky_rule : term_rule := TermRule RZ (map (fun _ => RZ) (summands (the_sum u))) sticky_bits (Some (room_bits u)) 0.
Definition tiny_exponent : Z := match zero_terms (factors d) with Some e => e | None => 0 end.

Definition a_shown (i : positive) : shown := shown_rule (of_a (factors d)) (shown_word (a_format d) i).
Definition b_shown (i : positive) : shown := shown_rule (of_b (factors d)) (shown_word (b_format d) i).
Definition c_shown : shown := shown_one tiny_exponent (shown_rule (c_rule d) (shown_word (c_format d) (c_node u))).
Definition product_shown_of (ab : positive * positive) : shown := shown_ones tiny_exponent (a_shown (fst ab)) (b_shown (snd ab)).

Definition factor_one_claims (x : shown) (i : positive) : list claim :=
  [Claim [Negation (s_nan x); Negation (s_inf x)] (Equal (U i) (one_sig x))].
Definition one_product_claims (e : (positive * positive) * (positive * positive) * number) : list claim :=
  let '(ab, st, r) := e in
  factor_one_claims (a_shown (fst ab)) (fst st) ++ factor_one_claims (b_shown (snd ab)) (snd st) ++
  number_claims (product_shown_of ab) [] [] (Times (U (fst st)) (U (snd st))) r.
Definition product_numbers : list number := removelast (summands (the_sum u)).
Definition c_summand : number := List.last (summands (the_sum u)) nobody_summand.
Definition product_entries : list ((positive * positive) * (positive * positive) * number) :=
  combine (combine (combine (a_nodes u) (b_nodes u)) (significands u)) product_numbers.

Definition own_claims (r : number) : list claim := [Claim [finite r] (Negation (Equal (U (significand r)) (Num_ 0)))].

Definition sticky_claims (m : widths) : list claim :=
  let k := out the_sticky in
  let q := sticky_round sticky_rule k (the_sum u) (lost_nodes u) in
  flat_map one_product_claims product_entries ++ number_claims c_shown [] [] (s_sig c_shown) c_summand ++ flat_map own_claims (summands (the_sum u)) ++
  term_claims_of m sticky_rule k (the_sum u) ++ lost_claims m sticky_rule (the_sum u) (lost_nodes u) ++
  kept_claims (signed_zeros k) (the_ending u) q ++ outcome_claims (signed_zeros k) (the_ending u) q ++
  word_claims (d_format d) (Num_ (Design.nan_word d)) (outcome (the_ending u)) (usual (signed_zeros k) (the_ending u) q) (result_node u).

Definition sticky_fine (ct : circuit) : bool :=
  let m := widths_of ct in
  let s := the_sticky in
  circuit_ok ct && one_block d && match cutting_of d with Whole => true | _ => false end && none_of (scales d) && none_of (converted d) &&
  (exponent_step (factors d) =? 1) && negb (normalise_factors (factors d)) && negb (odd_negated (factors d)) && negb (even_negated (factors d)) &&
  none_of (product_limit (factors d)) && none_of (product_rounding (factors d)) && negb (none_of (zero_terms (factors d))) &&
  forallb (word_fine m (a_format d)) (a_nodes u) && forallb (word_fine m (b_format d)) (b_nodes u) && word_fine m (c_format d) (c_node u) &&
  (length (a_nodes u) =? length product_numbers)%nat && (length (b_nodes u) =? length product_numbers)%nat && (length (significands u) =? length product_numbers)%nat &&
  (0 <? length product_numbers)%nat && (length product_numbers <=? block d)%nat &&
  match sums d with StickySum _ => true | _ => false end && negb (none_of (fraction_bits s)) &&
  match carry_bits s with Some k => room_bits u =? 1 + (sticky_bits + 1 + k) | None => false end && match alignment s with RZ => true | _ => false end &&
  negb (normalise s) && match zsign (out s) with SumSign => true | _ => false end &&
  term_sum_ok m sticky_rule (out s) (the_sum u) && (length (lost_nodes u) =? length (addends (entered (the_sum u))))%nat &&
  forallb (fun ra => (code (of (snd ra)) =? code (fst ra))%positive && (Finish.low (of (snd ra)) =? Finish.low (fst ra))) (combine (summands (the_sum u)) (addends (entered (the_sum u)))) &&
  forallb (fun e => bits_below (snd e) =? s_frac (product_shown_of (fst (fst e)))) product_entries && (bits_below c_summand =? s_frac c_shown) &&
  ending_ok m (out s) (the_ending u) && forallb (in_circuit m) (ending_nodes (the_ending u)) && (bits_below (outcome (the_ending u)) <=? fbits (d_format d)).
End Unit.

Section UnitSound.
Variables (ct : circuit) (d : design) (u : sticky_unit) (v : env).
Let m := widths_of ct.
Hypothesis OK : sticky_fine d u ct = true.
Hypothesis CL : Forall (holds ct) (sticky_claims d u m).
Hypothesis SOL : solution ct v.
Let s := the_sticky d.
Let x := the_sum u.
Let g := sticky_rule d u.

Record fine_unit : Prop := {
  u_circuit : circuit_ok ct = true;
  u_block : one_block d = true;
  u_design : cutting_of d = Whole /\ scales d = None /\ converted d = None /\ exponent_step (factors d) = 1 /\ normalise_factors (factors d) = false;
  u_factors : odd_negated (factors d) = false /\ even_negated (factors d) = false /\ product_limit (factors d) = None /\ product_rounding (factors d) = None /\
    zero_terms (factors d) = Some (tiny_exponent d);
  u_a : forall i, In i (a_nodes u) -> word_fine m (a_format d) i = true;
  u_b : forall i, In i (b_nodes u) -> word_fine m (b_format d) i = true;
  u_c : word_fine m (c_format d) (c_node u) = true;
  u_lengths : length (a_nodes u) = length (product_numbers u) /\ length (b_nodes u) = length (product_numbers u) /\ length (significands u) = length (product_numbers u) /\
    (0 < length (product_numbers u) <= block d)%nat;
  u_sums : sums d = StickySum s /\ fraction_bits s = Some (sticky_bits d) /\ alignment s = RZ /\ normalise s = false /\ zsign (out s) = SumSign;
  u_room : exists carry, carry_bits s = Some carry /\ room_bits u = 1 + (sticky_bits d + 1 + carry);
  u_terms : term_sum_ok m g (out s) x = true /\ length (lost_nodes u) = length (addends (entered x));
  u_own : forall r a, In (r, a) (combine (summands x) (addends (entered x))) -> code (of a) = code r /\ Finish.low (of a) = Finish.low r;
  u_fracs : (forall e, In e (product_entries u) -> bits_below (snd e) = s_frac (product_shown_of d (fst (fst e)))) /\ bits_below (c_summand u) = s_frac (c_shown d u);
  u_end : ending_ok m (out s) (the_ending u) = true /\ (forall i, In i (ending_nodes (the_ending u)) -> fits m v i) /\ bits_below (outcome (the_ending u)) <= fbits (d_format d)
}.

Lemma fine_unit_is : fine_unit.
Proof.
  pose proof OK as O. unfold sticky_fine in O. cbv zeta in O. fold m s x in O. rewrite !andb_true_iff in O.
  repeat match goal with H : _ /\ _ |- _ => destruct H end.
  repeat match goal with
    | H : negb _ = true |- _ => apply negb_true_iff in H
    | H : (_ =? _)%nat = true |- _ => apply Nat.eqb_eq in H
    | H : (_ <? _)%nat = true |- _ => apply Nat.ltb_lt in H
    | H : (_ <=? _)%nat = true |- _ => apply Nat.leb_le in H
    | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H
    | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
    | H : forallb _ _ = true |- _ => rewrite forallb_forall in H
  end.
  constructor; auto.
  - destruct (cutting_of d), (scales d), (converted d); easy.
  - unfold tiny_exponent. destruct (product_limit (factors d)), (product_rounding (factors d)), (zero_terms (factors d)); easy.
  - assert (SS : sums d = StickySum s) by (unfold s, the_sticky; destruct (sums d); easy).
    assert (FB : fraction_bits s = Some (sticky_bits d)) by (unfold sticky_bits; fold s; destruct (fraction_bits s); easy).
    repeat split; auto; [destruct (alignment s)|destruct (zsign (out s))]; easy.
  - destruct (carry_bits s) as [carry|]; [|easy]. exists carry. split; auto. match goal with H : (_ =? _) = true |- _ => now apply Z.eqb_eq in H end.
  - intros r a I. match goal with H : forall _, In _ (combine (summands x) (addends (entered x))) -> _ |- _ => pose proof (H _ I) as Q end.
    apply andb_prop in Q. destruct Q as [Q1 Q2]. apply Pos.eqb_eq in Q1. apply Z.eqb_eq in Q2. auto.
  - split; auto. intros e I. match goal with H : forall _, In _ (product_entries u) -> _ |- _ => pose proof (H e I) as Q end. now apply Z.eqb_eq in Q.
  - split; auto. split; auto. intros i I. apply (in_map_fits ct v SOL); auto.
Qed.

Lemma claims_of : Forall (holds ct) (flat_map (one_product_claims d) (product_entries u)) /\ Forall (holds ct) (number_claims (c_shown d u) [] [] (s_sig (c_shown d u)) (c_summand u)) /\
  Forall (holds ct) (flat_map own_claims (summands x)) /\ Forall (holds ct) (term_claims_of m g (out s) x) /\ Forall (holds ct) (lost_claims m g x (lost_nodes u)) /\
  (let q := sticky_round g (out s) x (lost_nodes u) in Forall (holds ct) (kept_claims (signed_zeros (out s)) (the_ending u) q) /\ Forall (holds ct) (outcome_claims (signed_zeros (out s)) (the_ending u) q) /\
   Forall (holds ct) (word_claims (d_format d) (Num_ (Design.nan_word d)) (outcome (the_ending u)) (usual (signed_zeros (out s)) (the_ending u) q) (result_node u))).
Proof. pose proof CL as C. unfold sticky_claims in C. cbv zeta in C. rewrite !Forall_app in C. exact C. Qed.

Lemma word_is f i : word_fine m f i = true -> decode f (v i) = val_of m v (shown_word f i) /\ 0 <= s_frac (shown_word f i) /\ 0 <= value m v (s_sig (shown_word f i)).
Proof.
  unfold word_fine. rewrite !andb_true_iff, Z.leb_le. intros [[F I] L]. destruct (in_map_fits ct v SOL (u_circuit fine_unit_is) i I) as [A B]. fold m in B.
  split; [apply decode_shown; auto; split; auto; eapply Z.lt_le_trans; [exact B|]; apply Z.pow_le_mono_r; lia|]. now apply word_sig.
Qed.
Lemma ruled f r i : word_fine m f i = true -> flush r (decode f (v i)) = val_of m v (shown_rule r (shown_word f i)).
Proof. intros W. destruct (word_is f i W) as [-> [A B]]. now apply rule_shown. Qed.

Lemma operand_of f i : Design.operand d f (v i) = decode f (v i).
Proof. destruct (u_design fine_unit_is) as [_ [_ [C [E _]]]]. unfold Design.operand. now rewrite C, E. Qed.

Lemma product_is i j st r k : In ((i, j), st, r) (product_entries u) ->
  scaled_product (factors d) (Design.factor (factors d) (of_a (factors d)) (Design.operand d (a_format d) (v i))) (Design.factor (factors d) (of_b (factors d)) (Design.operand d (b_format d) (v j))) k [] = val_in v r.
Proof.
  intros I. destruct (u_factors fine_unit_is) as [F1 [F2 [F3 [F4 F5]]]]. destruct (u_design fine_unit_is) as [_ [_ [_ [_ N]]]]. destruct claims_of as [C1 _].
  assert (IJ : In i (a_nodes u) /\ In j (b_nodes u)). { unfold product_entries in I. do 2 apply in_combine_l in I. split; [exact (in_combine_l _ _ _ _ I)|exact (in_combine_r _ _ _ _ I)]. }
  unfold Design.factor. rewrite N, !operand_of, (ruled _ _ i (u_a fine_unit_is i (proj1 IJ))), (ruled _ _ j (u_b fine_unit_is j (proj2 IJ))).
  fold (a_shown d i) (b_shown d j). unfold scaled_product, subtracted. rewrite F1, F2, F3, F4, F5, ones_shown. replace (if Z.odd k then false else false) with false by now destruct (Z.odd k). cbn [fold_left].
  change (shown_ones (tiny_exponent d) (a_shown d i) (b_shown d j)) with (product_shown_of d (i, j)).
  assert (CC : Forall (holds ct) (one_product_claims d ((i, j), st, r))) by (apply Forall_forall; intros q J; rewrite Forall_forall in C1; apply C1; apply in_flat_map; eauto).
  unfold one_product_claims in CC. rewrite !Forall_app in CC. destruct CC as [CA [CB CN]]. cbn [fst snd] in CA, CB, CN.
  assert (E : val_of m v (product_shown_of d (i, j)) = val_in v r).
  { apply (number_sound ct _ [] [] _ r v CN eq_refl SOL); [exact (proj1 (u_fracs fine_unit_is) _ I)|]. intros NN II. split; [reflexivity|]. unfold product_shown_of in *. cbn [fst snd shown_ones s_nan s_inf s_sig] in *.
    cbn [shown_product s_nan s_inf truth] in NN, II. apply orb_false_elim in NN, II. destruct NN as [NN _], II as [I1 I2]. apply orb_false_elim in NN. destruct NN as [N1 N2].
    assert (G : forall y n, Forall (holds ct) (factor_one_claims y n) -> truth (widths_of ct) v (s_nan y) = false -> truth (widths_of ct) v (s_inf y) = false -> v n = value (widths_of ct) v (one_sig y)).
    { intros y n H HN HI. unfold factor_one_claims in H. pose proof (Forall_inv H v SOL) as Q. cbn [given goal forallb truth] in Q. rewrite HN, HI in Q. specialize (Q eq_refl). now apply Z.eqb_eq in Q. }
    cbn [value]. now rewrite (G _ _ CA N1 I1), (G _ _ CB N2 I2). }
  rewrite E. now destruct (val_in v r).
Qed.

Let w := sticky_words u v.
Let els := elements d w.

Lemma els_are : els = map (fun kx => {| index := Z.of_nat (fst kx); Design.a_word := fst (snd kx); Design.b_word := snd (snd kx); scaled_by := [] |}) (numbered 0 (pairs w)).
Proof. unfold els, elements. destruct (u_design fine_unit_is) as [_ [SC _]]. rewrite SC. apply map_ext. intros [k [a b]]. reflexivity. Qed.

Lemma products_are : fst (terms d els) = map (val_in v) (product_numbers u) /\ snd (terms d els) = None.
Proof.
  destruct (u_design fine_unit_is) as [CW _]. destruct (u_lengths fine_unit_is) as [L1 [L2 [L3 _]]]. unfold terms. rewrite CW. cbn [fst snd]. split; [|reflexivity]. rewrite els_are, map_map. cbn [scaled_by index].
  assert (G : forall n a b st rs, (forall e, In e (combine (combine (combine a b) st) rs) -> In e (product_entries u)) -> length a = length rs -> length b = length rs -> length st = length rs ->
    map (fun kx : nat * (Z * Z) => scaled_product (factors d) (a_of d {| index := Z.of_nat (fst kx); Design.a_word := fst (snd kx); Design.b_word := snd (snd kx); scaled_by := [] |})
       (b_of d {| index := Z.of_nat (fst kx); Design.a_word := fst (snd kx); Design.b_word := snd (snd kx); scaled_by := [] |}) (Z.of_nat (fst kx)) []) (numbered n (combine (map v a) (map v b))) = map (val_in v) rs).
  { intros n a. revert n. induction a as [|i a IH]; intros n b st rs H A B C; destruct rs as [|r rs]; try easy. destruct b as [|j b], st as [|t st]; try easy. cbn [map combine numbered fst snd]. f_equal.
    - unfold a_of, b_of; cbn [Design.a_word Design.b_word]. exact (product_is i j t r (Z.of_nat n) (H _ (or_introl eq_refl))).
    - apply (IH (S n) b st); try (simpl in *; lia). intros e I. apply H. now right. }
  unfold w, sticky_words; cbn [pairs]. apply (G 0%nat (a_nodes u) (b_nodes u) (significands u)); auto.
Qed.

Lemma c_is : let c := flush (c_rule d) (decode (c_format d) (v (c_node u))) in zero_as (zero_terms (factors d)) (as_one (num_of c)) c = val_in v (c_summand u).
Proof.
  cbv zeta. destruct (u_factors fine_unit_is) as [_ [_ [_ [_ ->]]]]. rewrite (ruled _ _ _ (u_c fine_unit_is)), one_shown. fold (c_shown d u). destruct claims_of as [_ [C2 _]].
  apply (number_sound ct _ [] [] _ _ v C2 eq_refl SOL); [exact (proj2 (u_fracs fine_unit_is))|]. intros _ _. auto.
Qed.

Lemma summands_are : summands x = product_numbers u ++ [c_summand u].
Proof. destruct (u_lengths fine_unit_is) as [_ [_ [_ [L _]]]]. unfold product_numbers, c_summand. apply app_removelast_last. fold x. unfold product_numbers in L. fold x in L. intros Q. rewrite Q in L. simpl in L. lia. Qed.

(** The circuit's word is that of the design. *)
Theorem sticky_unit_sound : v (result_node u) = compute d w.
Proof.
  destruct (u_lengths fine_unit_is) as [L1 [L2 [_ [L4 L5]]]]. destruct (u_sums fine_unit_is) as [SS [FB [AL [NN ZS]]]]. destruct (u_room fine_unit_is) as [carry [CB RM]]. destruct (u_terms fine_unit_is) as [TO LL].
  destruct (u_end fine_unit_is) as [EO [EN BW]]. destruct claims_of as [_ [_ [C3 [C4 [C5 [C6 [C7 C8]]]]]]].
  rewrite (compute_one_block d w (u_block fine_unit_is)) by (unfold w, sticky_words; cbn [pairs]; rewrite combine_length, !map_length; lia).
  unfold sum_of_block. fold els. destruct products_are as [PS PE]. destruct (terms d els) as [ps e]. cbn [fst snd] in PS, PE. subst ps e. change (Design.c_word w) with (v (c_node u)). rewrite c_is, SS. cbn [block_sum].
  assert (AP : map (val_in v) (product_numbers u) ++ [val_in v (c_summand u)] = map (val_in v) (summands x)) by (rewrite summands_are, map_app; reflexivity). rewrite AP.
  assert (OWN : Forall (fun r => truth m v (finite r) = true) (summands x) -> forall r a, In (r, a) (combine (summands x) (addends (entered x))) -> v (code (of a)) + Finish.low (of a) = v (code r) + Finish.low r /\ v (significand r) <> 0).
  { intros F r a I. destruct (u_own fine_unit_is r a I) as [E1 E2]. split; [now rewrite E1, E2|]. apply in_combine_l in I. rewrite Forall_forall in F, C3.
    assert (H : truth m v (Negation (Equal (U (significand r)) (Num_ 0))) = true) by (apply (C3 (Claim [finite r] (Negation (Equal (U (significand r)) (Num_ 0)))) ltac:(apply in_flat_map; exists r; split; [exact I|now left]) v SOL); cbn [given forallb]; fold m; now rewrite (F r I)).
    cbn [truth value] in H. now apply negb_true_iff, Z.eqb_neq in H. }
  assert (SB : fraction_bits s = Some (unit_bits g) /\ carry_bits s = Some carry /\ held_bits g = Some (1 + (unit_bits g + 1 + carry))) by (split; [exact FB|]; split; [exact CB|]; cbn [g sticky_rule held_bits unit_bits]; now rewrite RM).
  assert (SA : alignment s = RZ /\ normalise s = false /\ out s = out s) by auto.
  assert (MS : cut_by g = RZ /\ forall md, In md (modes g) -> md = RZ) by (split; [reflexivity|]; intros md I; cbn [g sticky_rule modes] in I; apply in_map_iff in I; destruct I as [? [? _]]; auto).
  pose proof (sticky_sound ct g (out s) x v (u_circuit fine_unit_is) SOL TO C4 (the_ending u) EO EN (lost_nodes u) s carry C6 C7 C5 LL ZS SB SA MS OWN) as SV.
  pose proof (sticky_usual ct g (out s) x v (u_circuit fine_unit_is) SOL TO C4 (the_ending u) EO EN (lost_nodes u) s carry C6 C7 LL SB SA MS OWN) as US.
  rewrite (encode_same (d_format d) (Design.nan_word d) _ _ SV).
  apply (word_sound ct (d_format d) (Num_ (Design.nan_word d)) (Design.nan_word d) (outcome (the_ending u)) _ (result_node u) v (fun _ => eq_refl) BW C8 SOL). exact US.
Qed.
End UnitSound.

(** A unit computes what its design does, for all words; with the claims as they were certified. *)
Theorem sticky_words_to_words ct d u certified : sticky_fine d u ct = true -> claims_eqb (sticky_claims d u (widths_of ct)) certified = true ->
  Forall (holds ct) certified -> forall v, solution ct v -> v (result_node u) = compute d (sticky_words u v).
Proof. intros OK E. rewrite <- (claims_are _ _ E). intros. eapply sticky_unit_sound; eauto. Qed.
