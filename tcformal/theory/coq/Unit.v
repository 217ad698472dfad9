(** A unit from words to words: what its circuit computes, from the claims about its stages. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals FMapPositive.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage Products TreeSums NanWords After RoundDown Pieces FrameGroups Frames Window.
Import ListNotations.
Open Scope Z_scope.

Definition none_of {A} (o : option A) : bool := match o with None => true | Some _ => false end.

(** * Designs whose units the checker takes *)

(** NaN results are the design's word, or an operand's in a block that is a tree of sums or in c's frame. *)
Definition nan_design (d : design) : bool :=
  match nans d with
  | OneWord => true
  | q => none_of (composed d) && none_of (converted d) && (fbits (a_format d) <=? fbits (d_format d)) && (fbits (b_format d) <=? fbits (d_format d)) &&
         (fbits (c_format d) <=? fbits (d_format d)) && match q, sums d with ProductsThenC _, Framed _ => true | ProductsThenC _, _ => false | _, _ => true end
  end.

(** Products in pieces: of designs whose products are not rounded, in sums in which only values count. *)
Definition piece_places (d : design) : list (nat * nat) :=
  match cutting_of d with Pieces size dropped => digit_places size dropped (fbits (a_format d)) (fbits (b_format d)) | _ => [] end.
Definition cutting_ok (d : design) : bool :=
  match cutting_of d with
  | Whole => true
  | Pieces size _ =>
      (0 <? size) && match nans d with OneWord => true | _ => false end && none_of (product_rounding (factors d)) && none_of (scales d) && none_of (converted d) && none_of (composed d) &&
      negb (length (piece_places d) =? 0)%nat &&
      match sums d with OneSum (Stage s) | CAfter s false => negb (none_of (fraction_bits s)) && negb (normalise s) | _ => false end
  | Groups _ => false
  end.

Definition design_ok (d : design) : bool :=
  let q := factors d in
  (exponent_step q =? 1) && none_of (zero_terms q) && (negb (normalise_factors q) || none_of (scales d)) &&
  match product_rounding q with Some (Fixed _) => false | _ => true end && negb (skips d) && cutting_ok d &&
  nan_design d && rule_ok (c_rule d) &&
  match converted d with None => true | Some _ => keeps_all (of_a q) && keeps_all (of_b q) && none_of (scales d) && negb (normalise_factors q) && unadjusted (odd_negated q || even_negated q) (product_limit q) end &&
  match composed d with None => true | Some how => keeps_all (of_sum how) && keeps_all (of_c how) && regular (addition how) end.

(** A product as the multiplier gives it, with the scales that act on it. *)
Definition exact_value (d : design) (x : element) : val := fold_left product (scaled_by x) (product (a_of d x) (b_of d x)).

(** Whether the product of a factor's place is subtracted. *)
Definition subtracts (d : design) (k : Z) : bool := subtracted (factors d) k.

(** A product as a term. *)
Definition product_value (d : design) (x : element) : val :=
  let w := adjusted_value (subtracts d (index x)) (product_limit (factors d)) (exact_value d x) in
  match product_rounding (factors d) with Some (Floating c) => rounded_value c w | _ => w end.

(** A product's terms: one, or one of each piece. *)
Definition product_terms (d : design) (x : element) : list val :=
  match cutting_of d with
  | Pieces size dropped => full_terms size dropped (fbits (a_format d)) (fbits (b_format d)) (a_of d x) (b_of d x) (product_value d x)
  | _ => [product_value d x]
  end.

(** The elements of each block in order. *)
Definition in_order_of {A} (d : design) (l : list A) : list A := if Design.odd_first d then swapped l else l.
Definition chunks {A} (d : design) (l : list A) (e : A) : list (list A) :=
  match composed d with
  | None => cut_list (length l) (block d) l
  | Some how => flat_map (fun ks => cut_list (length ks) (block d) (map (fun k => nth k l e) ks)) (parts how)
  end.

Lemma swapped_map {A B} (g : A -> B) l : map g (swapped l) = swapped (map g l).
Proof.
  assert (G : forall n l, (length l <= n)%nat -> map g (swapped l) = swapped (map g l)).
  { induction n as [|n IH]; intros k L; [now destruct k|]. destruct k as [|a [|b k]]; auto. cbn [swapped map]. do 2 f_equal. apply IH. simpl in L. lia. }
  apply (G (length l)). lia.
Qed.
Lemma order_map {A B} (g : A -> B) d l : map g (in_order_of d l) = in_order_of d (map g l).
Proof. unfold in_order_of. destruct (Design.odd_first d); auto. apply swapped_map. Qed.
Lemma cut_list_map {A B} (g : A -> B) fuel k l : map (map g) (cut_list fuel k l) = cut_list fuel k (map g l).
Proof. revert l. induction fuel; intros l; simpl; auto. destruct l; simpl; auto. change (g a :: map g l) with (map g (a :: l)). now rewrite firstn_map, skipn_map, IHfuel. Qed.
Lemma chunks_map {A B} (g : A -> B) d l e : map (map g) (chunks d l e) = chunks d (map g l) (g e).
Proof.
  unfold chunks. destruct (composed d) as [how|]; [|now rewrite cut_list_map, map_length].
  induction (parts how) as [|ks r IH]; auto. cbn [flat_map]. rewrite map_app, IH. f_equal. rewrite cut_list_map, map_map. f_equal. apply map_ext. intros k. symmetry. apply map_nth.
Qed.

Section Design.
Variable d : design.
Hypothesis D : design_ok d = true.

Lemma design_parts : (exponent_step (factors d) = 1 /\ zero_terms (factors d) = None /\ (normalise_factors (factors d) = true -> scales d = None) /\
  match product_rounding (factors d) with Some (Fixed _) => False | _ => True end) /\
  (skips d = false /\ cutting_ok d = true /\ nan_design d = true /\ rule_ok (c_rule d) = true) /\
  match converted d with None => True | Some _ => of_a (factors d) = Kept /\ of_b (factors d) = Kept /\ scales d = None /\ normalise_factors (factors d) = false /\
     unadjusted (odd_negated (factors d) || even_negated (factors d)) (product_limit (factors d)) = true end /\
  match composed d with None => True | Some how => of_sum how = Kept /\ of_c how = Kept /\ regular (addition how) = true end.
Proof.
  unfold design_ok in D. cbv zeta in D. rewrite !andb_true_iff in D. destruct D as [[[[[[[[[B C0] E] G] H] I] J] K] L] M].
  apply negb_true_iff in H. apply Z.eqb_eq in B. destruct (zero_terms (factors d)); try easy.
  split.
  { repeat split; auto. intros Q. rewrite Q in E. now destruct (scales d). now destruct (product_rounding (factors d)) as [[]|]. }
  split; [repeat split; auto|]. split.
  - destruct (converted d); auto. rewrite !andb_true_iff in L. destruct L as [[[[L1 L2] L3] L4] L5]. apply negb_true_iff in L4.
    destruct (of_a (factors d)); try discriminate L1. destruct (of_b (factors d)); try discriminate L2. destruct (scales d); [discriminate L3|]. auto.
  - destruct (composed d) as [how|]; auto. rewrite !andb_true_iff in M. destruct M as [[M1 M2] M3].
    destruct (of_sum how); try discriminate M1. destruct (of_c how); try discriminate M2. auto.
Qed.

Lemma zero_as_none one v : zero_as None one v = v.
Proof. now destruct v. Qed.

Lemma negate_product v w : product (negate v) w = negate (product v w).
Proof.
  destruct v as [x|s|], w as [y|t|]; cbn [negate product]; try reflexivity; unfold is_zero; cbn [sig]; try (destruct (_ =? 0); cbn [negate]; try reflexivity).
  - unfold times; cbn [neg sig exp frac]. do 2 f_equal. now destruct (neg x), (neg y).
  - f_equal. now destruct t, (neg x).
  - f_equal. now destruct s, (neg y).
  - f_equal. now destruct s, t.
Qed.
Lemma negate_products l : forall v, fold_left product l (negate v) = negate (fold_left product l v).
Proof. induction l as [|x l IH]; intros v; auto. cbn [fold_left]. now rewrite negate_product, IH. Qed.

Lemma scaled_plain x : scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x) = product_value d x.
Proof.
  destruct design_parts as [[B [C0 [E F]]] _]. unfold scaled_product, product_value, exact_value, subtracts, adjusted_value. rewrite C0, zero_as_none.
  assert (N : fold_left product (scaled_by x) (if subtracted (factors d) (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x)) =
    if subtracted (factors d) (index x) then negate (fold_left product (scaled_by x) (product (a_of d x) (b_of d x))) else fold_left product (scaled_by x) (product (a_of d x) (b_of d x))).
  { destruct (subtracted _ _); [apply negate_products|reflexivity]. }
  rewrite N. clear N. destruct (if subtracted (factors d) (index x) then _ else _) as [y| |]; [|now destruct (product_rounding (factors d)) as [[]|]|now destruct (product_rounding (factors d)) as [[]|]].
  destruct (match product_limit (factors d) with Some l => _ | None => false end); destruct (product_rounding (factors d)) as [[]|]; easy.
Qed.

(** The value of a block. *)
Definition block_value (ps : list val) (v : val) : val := block_sum (sums d) (c_rule d) None [] ps (flush (c_rule d) v).

(** The NaNs of a product's factors; a product with them. *)
Definition element_nans (x : element) : option Z * option Z :=
  (nan_of (a_format d) (d_format d) (a_word x), nan_of (b_format d) (d_format d) (b_word x)).
Definition entry (x : element) : list (val * (option Z * option Z)) := map (fun v => (v, element_nans x)) (product_terms d x).

Definition nan_in_block (ns : list (option Z * option Z)) (ps : list val) (c : val) (w : Z) : Z :=
  let cw := if Design.is_nan c then Some w else None in
  match sums d, nans d with
  | _, OneWord => Design.nan_word d
  | InSteps t, q => otherwise (Design.nan_word d) (steps_nan q (Design.nan_word d) (c_rule d) ns ps c cw t)
  | how, q => block_nan how q (Design.nan_word d) ns ps c cw
  end.

(** A block: its value, and the word that it has if it is a NaN. *)
Definition state_step (st : val * Z) (b : list (val * (option Z * option Z))) : val * Z :=
  let r := block_value (map fst b) (fst st) in
  (r, if negb (Design.is_nan r) then snd st else nan_in_block (map snd b) (map fst b) (flush (c_rule d) (fst st)) (snd st)).

Lemma entries_fst b : map fst (concat (map entry b)) = flat_map (product_terms d) b.
Proof. induction b as [|x b IH]; auto. cbn [map concat flat_map]. rewrite map_app, IH. f_equal. unfold entry. rewrite map_map. apply map_id. Qed.

Lemma whole_entries b : cutting_of d = Whole -> concat (map entry b) = map (fun x => (product_value d x, element_nans x)) b.
Proof. intros C. induction b as [|x b IH]; auto. cbn [map concat]. rewrite IH. unfold entry, product_terms. now rewrite C. Qed.

(** The terms of a block in the specification, and as many of each product as it has pieces. *)
Definition block_terms (b : list element) : list val :=
  match cutting_of d with
  | Pieces size dropped => flat_map (fun x => spec_terms size dropped (a_of d x) (b_of d x) (product_value d x)) b
  | _ => map (product_value d) b
  end.

(** The significands of the factors of a product in pieces have the fraction bits of their formats. *)
Definition plain_factors (x : element) : Prop := forall y, product_value d x = Num y -> cutting_of d = Whole \/
  (frac (num_of (a_of d x)) = fbits (a_format d) /\ frac (num_of (b_of d x)) = fbits (b_format d)).

Lemma unscaled x y : cutting_of d <> Whole -> scaled_by x = [] -> product_value d x = Num y -> sig y = sig (num_of (a_of d x)) * sig (num_of (b_of d x)).
Proof.
  destruct design_parts as [_ [[_ [CO [_ _]]] _]]. intros C SB. unfold product_value, exact_value. rewrite SB. cbn [fold_left].
  assert (NR : product_rounding (factors d) = None). { unfold cutting_ok in CO. destruct (cutting_of d); try easy. rewrite !andb_true_iff in CO. now destruct (product_rounding (factors d)). }
  rewrite NR. unfold adjusted_value. destruct (product (a_of d x) (b_of d x)) as [z|s|] eqn:PZ; [|destruct (subtracts d (index x)); easy|destruct (subtracts d (index x)); easy].
  assert (SZ : sig z = sig (num_of (a_of d x)) * sig (num_of (b_of d x))).
  { destruct (a_of d x) as [y1|s|], (b_of d x) as [y2|t|]; revert PZ; cbn [product]; try (destruct (is_zero _)); intros PZ; inversion PZ; reflexivity. }
  rewrite <- SZ. destruct (subtracts d (index x)); cbn [negate]; match goal with |- context [if ?b then Inf _ else _] => destruct b end; intros H; inversion H; reflexivity.
Qed.

Lemma block_terms_are b v : Forall plain_factors b -> Forall (fun x => cutting_of d = Whole \/ scaled_by x = []) b -> block_value (block_terms b) v = block_value (flat_map (product_terms d) b) v.
Proof.
  destruct design_parts as [_ [[_ [CO [_ _]]] _]]. intros F SB. unfold block_terms, product_terms. unfold cutting_ok in CO. destruct (cutting_of d) as [|size dropped|] eqn:C; try easy.
  rewrite !andb_true_iff in CO. destruct CO as [[[[[[[P N] R] S] V] M] L] Q].
  assert (A : alikes (flat_map (fun x => spec_terms size dropped (a_of d x) (b_of d x) (product_value d x)) b)
    (flat_map (fun x => full_terms size dropped (fbits (a_format d)) (fbits (b_format d)) (a_of d x) (b_of d x) (product_value d x)) b)).
  { apply alikes_flat. intros x I. rewrite Forall_forall in F, SB. apply terms_alike.
    - unfold piece_places in L. rewrite C in L. now destruct (digit_places _ _ _ _).
    - intros y Y. destruct (F x I y Y) as [X|[FA FB]]; [congruence|]. repeat split; auto. apply unscaled; auto; [congruence|]. destruct (SB x I); [congruence|auto]. }
  unfold block_value. destruct (sums d) as [st| | | | |e [|]| | |]; try easy.
  - destruct st as [s|]; [|easy]. apply andb_prop in Q. destruct Q as [Q1 Q2]. apply negb_true_iff in Q2. destruct (fraction_bits s) as [f|] eqn:Fb; [|easy].
    cbn [block_sum add_from add]. apply (sum_alikes s f); auto. apply alikes_app; auto. apply alikes_refl.
  - apply andb_prop in Q. destruct Q as [Q1 Q2]. apply negb_true_iff in Q2. destruct (fraction_bits e) as [f|] eqn:Fb; [|discriminate Q1]. rewrite !block_after. exact (after_alikes e f _ _ _ Fb Q2 A).
Qed.

Definition good (x : element) : Prop := plain_factors x /\ (cutting_of d = Whole \/ scaled_by x = []).

Lemma swapped_in {A} (P : A -> Prop) l : Forall P l -> Forall P (swapped l).
Proof.
  assert (G : forall n l, (length l <= n)%nat -> Forall P l -> Forall P (swapped l)).
  { induction n as [|n IH]; intros k L F; [destruct k; [constructor|simpl in L; lia]|]. destruct F as [|a k H F]; [constructor|]. destruct F as [|b k H' F]; [now repeat constructor|]. cbn [swapped]. do 2 (constructor; auto). apply IH; auto. simpl in L. lia. }
  now apply (G (length l)).
Qed.

Lemma block_step_is st b : whole_factors d b = [] -> Forall good b -> block_step d st b = state_step st (concat (in_order_of d (map entry b))).
Proof.
  destruct design_parts as [[B [C0 [E F]]] [[H [CO [J K]]] _]]. intros WF GB. destruct st as [v n]. unfold block_step. rewrite H. cbn [andb]. rewrite C0, zero_as_none.
  set (b' := if Design.odd_first d then swapped b else b).
  assert (BE : in_order_of d (map entry b) = map entry b') by (symmetry; apply order_map).
  assert (GB' : Forall good b') by (unfold b'; destruct (Design.odd_first d); auto; now apply swapped_in).
  assert (T : terms d b' = (block_terms b', None)).
  { unfold terms, block_terms, spec_terms. unfold cutting_ok in CO. destruct (cutting_of d); try easy; f_equal.
    - apply map_ext. intros x. apply scaled_plain.
    - apply flat_map_ext. intros x. cbv beta zeta. rewrite scaled_plain. now destruct (product_value d x). }
  assert (W : whole_factors d b' = []). { unfold whole_factors in *. destruct (sums d) as [| | | | |s [|]| | |]; auto. destruct b; [|easy]. unfold b'. now destruct (Design.odd_first d). }
  rewrite W, T, BE. unfold state_step. cbn [fst snd].
  assert (BV : block_value (map fst (concat (map entry b'))) v = block_sum (sums d) (c_rule d) None [] (block_terms b') (flush (c_rule d) v)).
  { rewrite entries_fst. symmetry. apply block_terms_are; apply (Forall_impl _ (P := good)); auto; intros x [X Y]; auto. }
  rewrite BV. f_equal. unfold nan_in_block, nan_design in *. destruct (negb _); [reflexivity|].
  destruct (nans d) eqn:ND; [now destruct (sums d)| | | |]; rewrite !andb_true_iff in J; destruct J as [_ J].
  all: assert (CW : cutting_of d = Whole) by (unfold cutting_ok in CO; rewrite ND in CO; destruct (cutting_of d); try easy; now rewrite andb_false_r in CO);
    rewrite (whole_entries b' CW); unfold block_terms; rewrite CW, !map_map; cbn [fst snd]; destruct (sums d); easy.
Qed.

Definition no_halves : bool := match sums d with CAfter _ true => false | _ => true end.
Lemma no_halves_ok b : no_halves = true -> whole_factors d b = [].
Proof. unfold no_halves, whole_factors. destruct (sums d) as [| | | | |s [|]| | |]; easy. Qed.

Lemma blocks_are (NH : no_halves = true) bs : Forall (Forall good) bs -> forall st, fold_left (block_step d) bs st = fold_left state_step (map (fun b => concat (in_order_of d (map entry b))) bs) st.
Proof. induction 1 as [|b bs H F IH]; intros st; auto. cbn [fold_left map]. now rewrite (block_step_is st b (no_halves_ok b NH) H), IH. Qed.

(** The state before the last addition of a composition, or the whole one. *)
Definition chain_state (es : list (list (val * (option Z * option Z)))) (e : list (val * (option Z * option Z))) (st : val * Z) : val * Z :=
  fold_left state_step (map (fun b => concat (in_order_of d b)) (chunks d es e)) st.

Definition dummy : element := {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |}.

Lemma cut_list_in {A} (P : A -> Prop) n l : Forall P l -> forall fuel, Forall (Forall P) (cut_list fuel n l).
Proof.
  intros F fuel. revert l F. induction fuel as [|k IH]; intros l F; [constructor|]. destruct l as [|x l]; [constructor|]. cbn [cut_list].
  assert (G : Forall P (firstn n (x :: l)) /\ Forall P (skipn n (x :: l))) by (apply Forall_app; now rewrite firstn_skipn). destruct G. constructor; auto.
Qed.

Lemma all_good l : cutting_of d = Whole -> Forall good l.
Proof. intros C. apply Forall_forall. intros x _. split; [|now left]. intros y _. now left. Qed.

Theorem compute_is w : no_halves = true -> Forall good (elements d w) ->
  compute d w =
    let es := map entry (elements d w) in
    match composed d with
    | None => let st := chain_state es (entry dummy) (start_of d (c_word w)) in encode (d_format d) (snd st) (fst st)
    | Some how => encode (d_format d) (addition_nan how)
        (sum_values (addition how) [fst (chain_state es (entry dummy) (decode (d_format d) 0, 0)); decode (c_format d) (c_word w)])
    end.
Proof.
  intros NH GE. destruct design_parts as [_ [[_ [CO _]] [_ M]]]. unfold compute, chain_state. rewrite <- chunks_map, map_map.
  unfold chunks in *. destruct (composed d) as [how|] eqn:CP.
  - destruct M as [M1 [M2 _]]. rewrite M1, M2, !flush_kept_. do 3 f_equal.
    assert (PF : forall l st, fold_left (fun state ks => blocks d (map (fun k => nth k (elements d w) dummy) ks) state) l st =
      fold_left (block_step d) (flat_map (fun ks => cut_list (length ks) (block d) (map (fun k => nth k (elements d w) dummy) ks)) l) st).
    { induction l as [|ks l IH]; intros st; auto. cbn [fold_left flat_map]. rewrite fold_left_app, IH. unfold blocks. now rewrite map_length. }
    assert (CW : cutting_of d = Whole) by (unfold cutting_ok in CO; rewrite CP in CO; destruct (cutting_of d); try easy; now rewrite !andb_false_r in CO).
    unfold dummy in PF. rewrite PF, (blocks_are NH); [reflexivity|]. apply Forall_forall. intros b _. now apply all_good.
  - unfold blocks. rewrite (blocks_are NH) by (now apply cut_list_in). now destruct (fold_left state_step _ _).
Qed.
End Design.

(** * Words of numbers that are written in another way *)

Lemma encode_same f nan_ v w : same_val v w -> encode f nan_ v = encode f nan_ w.
Proof.
  destruct v as [x|a|], w as [y|b|]; simpl; try easy; [|now intros ->]. intros [N [E V_]]. unfold encode.
  set (ax := {| neg := false; sig := sig x; exp := exp x; frac := frac x |}). set (ay := {| neg := false; sig := sig y; exp := exp y; frac := frac y |}).
  assert (S : same ax ay).
  { repeat split; auto. unfold V, signed, lsb in *; cbn [neg sig exp frac ax ay] in *. rewrite N in V_. destruct (neg y); auto. rewrite !opp_IZR in V_. lra. }
  assert (R : round_div RZ (sig x) (frac x - fbits f) = round_div RZ (sig y) (frac y - fbits f)).
  { pose proof (same_cut RZ (exp x - fbits f) _ _ S) as C. unfold cut, signed, lsb in C; cbn [neg sig exp frac ax ay] in C.
    replace (exp x - fbits f - (exp x - frac x)) with (frac x - fbits f) in C by lia.
    replace (exp x - fbits f - (exp y - frac y)) with (frac y - fbits f) in C by lia. exact C. }
  now rewrite R, N, E.
Qed.


Lemma same_product a a' b b' : same_val a a' -> same_val b b' -> same_val (product a b) (product a' b').
Proof.
  destruct a as [x|s|], a' as [x'|s'|], b as [y|t|], b' as [y'|t'|]; cbn [same_val]; try contradiction; intros A B; auto.
  - destruct A as [A1 [A2 A3]], B as [B1 [B2 B3]]. cbn [product same_val]. repeat split; cbn [times neg exp]; try congruence.
    assert (VT : forall a b, V (times a b) = (V a * V b)%R).
    { intros a b. unfold V. replace (lsb (times a b)) with (lsb a + lsb b) by (unfold lsb; cbn [times exp frac]; lia).
      replace (signed (times a b)) with (signed a * signed b) by (unfold signed; cbn [times neg sig]; destruct (neg a), (neg b); cbn [xorb]; lia).
      rewrite mult_IZR, Flocq.Core.Raux.bpow_plus. ring. }
    rewrite !VT. now rewrite A3, B3.
  - destruct A as [A1 [A2 A3]]. subst. cbn [product]. rewrite (same_zero x x') by (now repeat split). destruct (is_zero x'); [exact I|]. cbn [same_val]. now rewrite A1.
  - destruct B as [B1 [B2 B3]]. subst. cbn [product]. rewrite (same_zero y y') by (now repeat split). destruct (is_zero y'); [exact I|]. cbn [same_val]. now rewrite B1.
  - subst. reflexivity.
Qed.

(** * Factors that are first converted *)

Definition conversion_claims (f g : format) (w to : positive) : list claim :=
  let x := shown_word f w in
  let y := shown_word g to in
  let k := Plus (Minus (s_exp x) (s_exp y)) (Num_ (fbits g - fbits f)) in
  let finite_x := [Negation (s_nan x); Negation (s_inf x)] in
  let zero := Equal (s_sig x) (Num_ 0) in
  [Claim [] (Iff (s_nan y) (s_nan x));
   Claim [Negation (s_nan x)] (Iff (s_inf y) (s_inf x));
   Claim [Negation (s_nan x)] (Iff (s_neg y) (s_neg x));
   Claim (Negation zero :: finite_x) (Both (AtMost (Num_ 0) k) (AtMost k (Num_ 64)));
   Claim finite_x (Equal (s_sig y) (Shift (s_sig x) (Low k (Num_ 64))));
   Claim finite_x (Both (AtMost (Num_ (least_exponent g)) (s_exp y)) (Less (s_sig y) (Num_ (2 ^ (fbits g + 1)))));
   Claim (zero :: finite_x) (Equal (s_exp y) (Num_ (least_exponent g)));
   Claim (Negation zero :: finite_x) (Either (AtMost (Num_ (2 ^ fbits g)) (s_sig y)) (Equal (s_exp y) (Num_ (least_exponent g))))].

Section Conversion.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.

Lemma conversion_sound f g w to : format_ok f = true -> format_ok g = true -> 0 <= v w < 2 ^ word_width f -> 0 <= v to < 2 ^ word_width g ->
  Forall (holds ct) (conversion_claims f g w to) -> same_val (on_num (in_format g) (decode f (v w))) (decode g (v to)).
Proof.
  intros FO GO WF WG CL. rewrite (decode_shown m v f w FO WF), (decode_shown m v g to GO WG). set (x := shown_word f w) in *. set (y := shown_word g to) in *.
  assert (Q : forall k q, nth_error (conversion_claims f g w to) k = Some q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true).
  { intros k q Nt G. rewrite Forall_forall in CL. exact (CL q (nth_error_In _ _ Nt) v SOL G). }
  pose proof (Q 0%nat _ eq_refl eq_refl) as Q0. cbn [goal] in Q0. rewrite truth_iff in Q0. apply eqb_prop in Q0. fold x y in Q0.
  unfold val_of. rewrite Q0. destruct (truth m v (s_nan x)) eqn:N; [reflexivity|].
  assert (NN : truth m v (Negation (s_nan x)) = true) by (cbn [truth]; now rewrite N).
  pose proof (Q 1%nat _ eq_refl) as Q1. cbn [given forallb goal] in Q1. fold x y in Q1. rewrite NN, truth_iff in Q1. specialize (Q1 eq_refl). apply eqb_prop in Q1.
  pose proof (Q 2%nat _ eq_refl) as Q2. cbn [given forallb goal] in Q2. fold x y in Q2. rewrite NN, truth_iff in Q2. specialize (Q2 eq_refl). apply eqb_prop in Q2.
  rewrite Q1, Q2. destruct (truth m v (s_inf x)) eqn:I; [reflexivity|].
  assert (NI : truth m v (Negation (s_inf x)) = true) by (cbn [truth]; now rewrite I).
  pose proof (Q 3%nat _ eq_refl) as Q3. cbn [given forallb goal] in Q3. fold x y in Q3. rewrite NN, NI in Q3.
  pose proof (Q 4%nat _ eq_refl) as Q4. cbn [given forallb goal] in Q4. fold x y in Q4. rewrite NN, NI in Q4. specialize (Q4 eq_refl).
  pose proof (Q 5%nat _ eq_refl) as Q5. cbn [given forallb goal] in Q5. fold x y in Q5. rewrite NN, NI in Q5. specialize (Q5 eq_refl).
  pose proof (Q 6%nat _ eq_refl) as Q6. cbn [given forallb goal] in Q6. fold x y in Q6. rewrite NN, NI in Q6.
  pose proof (Q 7%nat _ eq_refl) as Q7. cbn [given forallb goal] in Q7. fold x y in Q7. rewrite NN, NI in Q7. clear Q.
  cbn [truth value] in Q3, Q4, Q5, Q6, Q7. set (sx := value m v (s_sig x)) in *. set (sy := value m v (s_sig y)) in *. set (ex := value m v (s_exp x)) in *. set (ey := value m v (s_exp y)) in *.
  set (k := ex - ey + (fbits g - fbits f)) in *. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in Q5. apply Z.eqb_eq in Q4.
  destruct (word_sig m v f w FO) as [FX SX]. destruct (word_sig m v g to GO) as [FY SY]. fold x in SX. fold y in SY. fold sx in SX. fold sy in SY.
  change (s_frac x) with (fbits f). change (s_frac y) with (fbits g).
  destruct (Z.eqb_spec sx 0) as [Z0|Z0].
  { assert (Y0 : sy = 0) by lia. specialize (Q6 eq_refl). apply Z.eqb_eq in Q6. cbn [on_num same_val]. rewrite Z0, Y0. unfold in_format, at_exponent, is_zero; cbn [sig exp frac neg].
    change (0 =? 0) with true. cbv iota. repeat split; cbn [neg exp]; [lia|]. unfold V, signed; cbn [neg sig]. destruct (truth m v (s_neg x)); change (- 0) with 0; now rewrite !Rmult_0_l. }
  specialize (Q3 eq_refl). apply andb_prop in Q3. destruct Q3 as [K1 K2]. apply Z.leb_le in K1, K2. rewrite Z.min_l in Q4 by lia.
  assert (EY : (if sx =? 0 then least_exponent g else Z.max (Z.log2 (Z.abs sx) + (ex - fbits f)) (least_exponent g)) = ey).
  { destruct (Z.eqb_spec sx 0) as [Z1|_]; [easy|].
    specialize (Q7 eq_refl). apply orb_prop in Q7. assert (PK : 0 < 2 ^ k) by (apply pow2_pos; lia). assert (SP : 0 < sx) by lia.
    assert (LG : Z.log2 sy = Z.log2 sx + k) by (rewrite Q4, Z.log2_mul_pow2 by lia; lia). rewrite Z.abs_eq by lia.
    assert (0 < sy) by (rewrite Q4; nia).
    destruct Q7 as [Q7|Q7].
    - apply Z.leb_le in Q7. assert (Z.log2 sy = fbits g) by (apply Z.log2_unique; [exact FY|]; rewrite <- Z.add_1_r; lia). unfold k in *. lia.
    - apply Z.eqb_eq in Q7. assert (Z.log2 sy < fbits g + 1) by (apply Z.log2_lt_pow2; lia). unfold k in *. lia. }
  cbn [on_num same_val]. unfold in_format, at_exponent, own_exponent, is_zero, lsb; cbn [sig exp frac neg]. rewrite EY.
  repeat split; cbn [neg exp]. unfold V, signed, lsb; cbn [neg sig exp frac]. replace (ey - (fbits f + (ey - ex))) with (k + (ey - fbits g)) by (unfold k; lia).
  rewrite Flocq.Core.Raux.bpow_plus, (bp_Z k) by lia. rewrite Q4. destruct (truth m v (s_neg x)); rewrite ?opp_IZR, mult_IZR; ring.
Qed.
End Conversion.

(** * The plan of a unit *)

(** A product: the words of its factors after a conversion, the nodes of their significands, the factors with leading
    ones, the exact product, that with its sign and limit, and its rounding with the largest code of its exponent. *)
Record leaf_plan := LeafPlan {
  wide : option (positive * positive); sigs : list (option positive); normal : option (number * number);
  exact_number : number; adjusted : number; last_rounding : option (Z * ending)
}.
Definition product_number (l : leaf_plan) : number := match last_rounding l with Some (_, x) => outcome x | None => adjusted l end.

(** A block: the number that c counts as, and the sum. *)
Inductive summed_block := InTree (q : tree_plan) | AfterSum (q : after) | DownSum (q : down_plan) | FramedSum (q : framed_plan) | WindowSum (q : window).
Record block_plan := BlockPlan { c_counted : number; sum_plan : summed_block }.

Record unit_plan := InPieces {
  a_nodes : list positive; b_nodes : list positive; c_input : positive; scale_nodes : list (positive * positive);
  leaves : list leaf_plan;
  c_number : number; c_significand : option positive;
  zero_number : number;                        (** of the sum that a composition starts from *)
  block_plans : list block_plan;
  adding : option (number * summed);           (** of a composition: the sum of the parts as an operand, and the last sum *)
  root : positive;
  cut_up : list (list number)                  (** the pieces of each product *)
}.
Definition UnitPlan a b c s l n cs z bs x r : unit_plan := InPieces a b c s l n cs z bs x r [].

Section Plan.
Variables (ct : circuit) (d : design) (u : unit_plan).
Let m := widths_of ct.

Definition words_in (v : env) : words :=
  {| pairs := combine (map v (a_nodes u)) (map v (b_nodes u)); c_word := v (c_input u);
     scale_words := map (fun ab => (v (fst ab), v (snd ab))) (scale_nodes u) |}.

Definition factors_at (k : nat) (l : leaf_plan) : factor * list factor :=
  let s i := nth i (sigs l) None in
  let wa := nth k (a_nodes u) 1%positive in
  let wb := nth k (b_nodes u) 1%positive in
  match converted d, wide l with
  | Some g, Some (ta, tb) => (Factor ta g Kept (s 0%nat), [Factor tb g Kept (s 1%nat)])
  | _, _ =>
      (Factor wa (a_format d) (of_a (factors d)) (s 0%nat),
       Factor wb (b_format d) (of_b (factors d)) (s 1%nat) ::
       match scales d with
       | None => []
       | Some (g, n) => let '(sa, sb) := nth (k / n)%nat (scale_nodes u) (1, 1)%positive in [Factor sa g Kept (s 2%nat); Factor sb g Kept (s 3%nat)]
       end)
  end.

Definition leaf_claims_at (kl : nat * leaf_plan) : list claim :=
  let '(k, l) := kl in
  let '(x, r) := factors_at k l in
  (match converted d, wide l with
   | Some g, Some (ta, tb) => conversion_claims (a_format d) g (nth k (a_nodes u) 1%positive) ta ++ conversion_claims (b_format d) g (nth k (b_nodes u) 1%positive) tb
   | _, _ => [] end) ++
  match normal l, r with
  | Some (a, b), y :: _ => normal_claims (shown_factor x) a ++ normal_claims (shown_factor y) b ++ product_claims a b (exact_number l)
  | _, _ => leaf_claims x r (exact_number l)
  end ++
  adjust_claims m (subtracts d (Z.of_nat k)) (product_limit (factors d)) (exact_number l) (adjusted l) ++
  match product_rounding (factors d), last_rounding l with Some (Floating c), Some (s, x) => rounding_claims m c (adjusted l) s x | _, _ => [] end.

Definition factor_words_ok (f : format) (w : positive) : bool := format_ok f && in_circuit m w && (width_in m w =? word_width f).

Definition leaf_ok_at (kl : nat * leaf_plan) : bool :=
  let '(k, l) := kl in
  let '(x, r) := factors_at k l in
  leaf_ok m x r (exact_number l) && forallb (fun y => in_circuit m (word y)) (x :: r) &&
  match normalise_factors (factors d), normal l, r with
  | false, None, _ => true
  | true, Some (a, b), [y] => (bits_below a =? s_frac (shown_factor x)) && (bits_below b =? s_frac (shown_factor y))
  | _, _, _ => false
  end &&
  adjust_ok m (subtracts d (Z.of_nat k)) (product_limit (factors d)) (exact_number l) (adjusted l) &&
  match product_rounding (factors d), last_rounding l with None, None => true | Some (Floating c), Some (_, x) => rounding_ok m c (adjusted l) x | _, _ => false end &&
  match converted d, wide l with
  | Some g, Some (ta, tb) =>
      factor_words_ok (a_format d) (nth k (a_nodes u) 1%positive) && factor_words_ok (b_format d) (nth k (b_nodes u) 1%positive) &&
      factor_words_ok g ta && factor_words_ok g tb
  | None, None => match scales d with None => true | Some (_, n) => (k / n <? length (scale_nodes u))%nat && (1 <=? n)%nat end
  | _, _ => false
  end.

(** The pieces of a product, and the significands of its factors. *)
Definition pieces_at (k : nat) : list number := nth k (cut_up u) [].
Definition factor_significands (k : nat) (l : leaf_plan) : term * term :=
  let '(x, r) := factors_at k l in
  match normal l, r with
  | Some (a, b), _ => (U (significand a), U (significand b))
  | None, y :: _ => (factor_term x, factor_term y)
  | None, [] => (Num_ 0, Num_ 0)
  end.
Definition pieces_claims_at (kl : nat * leaf_plan) : list claim :=
  match cutting_of d with
  | Pieces size dropped => let '(sa, sb) := factor_significands (fst kl) (snd kl) in
      pieces_claims size dropped (fbits (a_format d)) (fbits (b_format d)) sa sb (product_number (snd kl)) (pieces_at (fst kl))
  | _ => []
  end.
Definition pieces_ok_at (kl : nat * leaf_plan) : bool :=
  match cutting_of d with
  | Pieces size dropped => pieces_ok size dropped (fbits (a_format d)) (fbits (b_format d)) (product_number (snd kl)) (pieces_at (fst kl))
  | _ => true
  end.

Definition numbered_leaves := combine (seq 0 (length (leaves u))) (leaves u).
Definition c_factor : factor := Factor (c_input u) (c_format d) Kept (c_significand u).

(** The sum at the root of a block's plan. *)
Definition root_sum (q : tree_plan) : option summed := match q with Sum s None _ => Some s | _ => None end.
Definition step_of (t : steps) : option sum := match t with Step (Stage s) _ => Some s | _ => None end.

Definition block_rule : flush_rule := inner_rule (sums d) (c_rule d).

(** The sum of a block: what is checked, claimed and known of it. *)
Definition block_ok (ns : list (number * nans_of)) (x : block_plan) : bool :=
  match sum_plan x with
  | InTree q =>
      match tree_for (sums d) (length ns), root_sum q with
      | Some t, Some _ => tree_ok m block_rule (map fst ns) (c_counted x) t q && negb (length ns =? 0)%nat
      | _, _ => false
      end && match nans d, sums d with OneWord, _ | _, InSteps _ => true | _, how => nan_sums how (length ns) end
  | AfterSum q =>
      match sums d, nans d with
      | CAfter e false, OneWord => after_ok m e q && numbers_eqb (numbers_of (first q)) (map fst ns) && number_eqb (its (its_c q)) (c_counted x)
      | _, _ => false
      end
  | DownSum q => match sums d, nans d with RoundedDown r, OneWord => down_ok m r (map fst ns) q && number_eqb (added q) (c_counted x) | _, _ => false end
  | FramedSum q =>
      match sums d, nans d with
      | Framed e, OneWord | Framed e, ProductsThenC _ => framed_ok m e (map fst ns) q && number_eqb (frame_c q) (c_counted x)
      | _, _ => false
      end
  | WindowSum q =>
      match sums d, nans d with
      | OneSum (Stage e), OneWord => window_ok m e q && numbers_eqb (map term_of (window_terms q)) (map fst ns) && number_eqb (its (window_c q)) (c_counted x)
      | _, _ => false
      end
  end.
Definition block_claims (ns : list (number * nans_of)) (x : block_plan) : list claim :=
  match sum_plan x with
  | InTree q => match tree_for (sums d) (length ns) with Some t => tree_claims m block_rule t q | None => [] end
  | AfterSum q => match sums d with CAfter e _ => after_claims m e q | _ => [] end
  | DownSum q => match sums d with RoundedDown r => down_claims m r (map fst ns) q | _ => [] end
  | FramedSum q => match sums d with Framed e => framed_claims m e (map fst ns) q | _ => [] end
  | WindowSum q => match sums d with OneSum (Stage e) => window_claims m e q | _ => [] end
  end.
Definition block_result (x : block_plan) : number :=
  match sum_plan x with
  | InTree q => match root_sum q with Some s => sum_result s | None => c_counted x end
  | AfterSum q => outcome (last_ending q)
  | DownSum q => outcome (down_ending q)
  | FramedSum q => framed_outcome q
  | WindowSum q => outcome (window_ending q)
  end.
Definition block_usual (ns : list (number * nans_of)) (x : block_plan) : list formula :=
  match sum_plan x with
  | InTree q =>
      match tree_for (sums d) (length ns), root_sum q with
      | Some t, Some s => match step_of t with Some e => summed_usual e s | None => [] end
      | _, _ => []
      end
  | AfterSum q => match sums d with CAfter e _ => usual (out e) (last_ending q) (after_sum e q) | _ => [] end
  | DownSum q => match sums d with RoundedDown r => usual (out (products_sum r)) (down_ending q) (to_round_of (PositiveMap.empty Z) (outcome (floor_ending q)) (floor_span q)) | _ => [] end
  | FramedSum q => match sums d with Framed e => framed_usual (PositiveMap.empty Z) e (map fst ns) q | _ => [] end
  | WindowSum q => match sums d with OneSum (Stage e) => usual (out e) (window_ending q) (window_round e q) | _ => [] end
  end.
(** Its word where it is a NaN; [w]: that of c. *)
Definition block_word (ns : list (number * nans_of)) (x : block_plan) (w : term) : term :=
  match nans d, sum_plan x with
  | OneWord, _ => Num_ (Design.nan_word d)
  | ProductsThenC k, FramedSum _ => then_c_term k (Design.nan_word d) (map snd ns) (map fst ns) (MaybeNan (Is (nan (c_counted x))) w)
  | r, InTree q => match sums d with
    | InSteps t => first_present (Num_ (Design.nan_word d)) [steps_term r (Design.nan_word d) (map snd ns) (MaybeNan (Is (nan (c_counted x))) w) t q]
    | _ => block_term r (Design.nan_word d) (sums d) (map snd ns) (map fst ns) (MaybeNan (Is (nan (c_counted x))) w) q
    end
  | _, _ => Num_ 0
  end.

Fixpoint blocks_ok (cs : list (list (number * nans_of))) (before : number) (l : list block_plan) : bool :=
  match cs, l with
  | [], [] => true
  | ns :: cs, x :: l => flush_ok m (c_rule d) before (c_counted x) && block_ok ns x && blocks_ok cs (block_result x) l
  | _, _ => false
  end.

Fixpoint blocks_claims (cs : list (list (number * nans_of))) (known : list formula) (before : number) (l : list block_plan) : list claim :=
  match cs, l with
  | ns :: cs, x :: l => flush_claims known (c_rule d) before (c_counted x) ++ block_claims ns x ++ blocks_claims cs (block_usual ns x) (block_result x) l
  | _, _ => []
  end.

(** The number that a sum hands on, what is known of its cut points, and its word where it is a NaN. *)
Record handed := Handed { handed_on : number; usually : list formula; nan_term : term }.
Fixpoint blocks_last (cs : list (list (number * nans_of))) (l : list block_plan) (before : handed) : handed :=
  match cs, l with
  | ns :: cs, x :: l => blocks_last cs l (Handed (block_result x) (block_usual ns x) (block_word ns x (nan_term before)))
  | _, _ => before
  end.

Definition plan_nans (k : nat) : nans_of := (word_nan (a_format d) (d_format d) (nth k (a_nodes u) 1%positive), word_nan (b_format d) (d_format d) (nth k (b_nodes u) 1%positive)).
Definition plan_entry (kl : nat * leaf_plan) : list (number * nans_of) :=
  map (fun n => (n, plan_nans (fst kl))) (match cutting_of d with Pieces _ _ => pieces_at (fst kl) | _ => [product_number (snd kl)] end).
Definition chunked : list (list (number * nans_of)) := map (fun b => concat (in_order_of d b)) (chunks d (map plan_entry numbered_leaves) [(c_number u, (no_nan, no_nan))]).
Definition start_number : number := match composed d with None => c_number u | Some _ => zero_number u end.

Definition start_num : num := num_of (decode (d_format d) 0).

Definition start_word : term := match nans d with OneWord => U (c_input u) | _ => quiet_term (c_format d) (d_format d) (c_input u) end.
Definition last_block : handed := blocks_last chunked (block_plans u) (Handed start_number [] start_word).
Definition last_sum : option handed :=
  match composed d, adding u with
  | None, None => Some last_block
  | Some how, Some (_, s) => Some (Handed (sum_result s) (summed_usual (addition how) s) (Num_ (addition_nan how)))
  | _, _ => None
  end.

Definition adding_claims : list claim :=
  match composed d, adding u with
  | Some how, Some (r, s) =>
      known_claims start_num (zero_number u) ++ flush_claims (usually last_block) Kept (handed_on last_block) r ++ summed_claims m (addition how) s
  | _, _ => []
  end.

Definition unit_claims : list claim :=
  flat_map leaf_claims_at numbered_leaves ++ flat_map pieces_claims_at numbered_leaves ++ leaf_claims c_factor [] (c_number u) ++ blocks_claims chunked [] start_number (block_plans u) ++ adding_claims ++
  match last_sum with
  | Some x => word_claims (d_format d) (nan_term x) (handed_on x) (usually x) (root u)
  | None => []
  end.

Definition unit_ok : bool :=
  circuit_ok ct && design_ok d && no_halves d && negb (length (leaves u) =? 0)%nat && negb (length chunked =? 0)%nat &&
  (length (a_nodes u) =? length (leaves u))%nat && (length (b_nodes u) =? length (leaves u))%nat &&
  forallb leaf_ok_at numbered_leaves && forallb pieces_ok_at numbered_leaves && leaf_ok m c_factor [] (c_number u) && in_circuit m (c_input u) &&
  match composed d with None => true | Some how => forallb (forallb (fun k => k <? length (leaves u))%nat) (parts how) end &&
  blocks_ok chunked start_number (block_plans u) &&
  match composed d, adding u with
  | None, None => true
  | Some how, Some (r, s) =>
      summed_ok m (addition how) s && numbers_eqb (sum_operands s) [r; c_number u] && flush_ok m Kept (handed_on last_block) r &&
      (bits_below (zero_number u) =? frac start_num) && match decode (d_format d) 0 with Num x => 0 <=? sig x | _ => false end
  | _, _ => false
  end &&
  match last_sum with Some x => (bits_below (handed_on x) <=? fbits (d_format d)) | None => false end.
End Plan.

Section Sound.
Variables (ct : circuit) (d : design) (u : unit_plan).
Let m := widths_of ct.
Hypothesis OK : unit_ok ct d u = true.
Hypothesis CL : Forall (holds ct) (unit_claims ct d u).
Variable v : env.
Hypothesis SOL : solution ct v.

Lemma unit_parts : circuit_ok ct = true /\ design_ok d = true /\ no_halves d = true /\ leaves u <> [] /\ chunked d u <> [] /\
  length (a_nodes u) = length (leaves u) /\ length (b_nodes u) = length (leaves u) /\ forallb (leaf_ok_at ct d u) (numbered_leaves u) = true /\ forallb (pieces_ok_at d u) (numbered_leaves u) = true /\
  leaf_ok m (c_factor d u) [] (c_number u) = true /\ in_circuit m (c_input u) = true /\
  match composed d with None => True | Some how => forallb (forallb (fun k => k <? length (leaves u))%nat) (parts how) = true end /\
  blocks_ok ct d (chunked d u) (start_number d u) (block_plans u) = true /\
  match composed d, adding u with
  | None, None => True
  | Some how, Some (r, s) =>
      summed_ok m (addition how) s = true /\ sum_operands s = [r; c_number u] /\ flush_ok m Kept (handed_on (last_block d u)) r = true /\
      bits_below (zero_number u) = frac (start_num d) /\ exists x, decode (d_format d) 0 = Num x /\ 0 <= sig x
  | _, _ => False
  end /\
  match last_sum d u with Some x => bits_below (handed_on x) <= fbits (d_format d) | None => False end.
Proof.
  unfold unit_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[[[[[A B] C0] E] F] G] H] I] PI] J] K] L] M] N] O].
  apply negb_true_iff in E, F. apply Nat.eqb_neq in E, F. apply Nat.eqb_eq in G, H.
  split; [exact A|]. split; [exact B|]. split; [exact C0|]. split; [intros Q; now rewrite Q in E|]. split; [intros Q; now rewrite Q in F|].
  split; [exact G|]. split; [exact H|]. split; [exact I|]. split; [exact PI|]. split; [exact J|]. split; [exact K|]. split; [now destruct (composed d)|]. split; [exact M|]. split.
  - destruct (composed d) as [how|], (adding u) as [[r s]|]; try easy. rewrite !andb_true_iff in N. destruct N as [[[[N1 N2] N3] N4] N5].
    apply numbers_eq in N2. apply Z.eqb_eq in N4. repeat split; auto. destruct (decode (d_format d) 0) eqn:Q; try easy. apply Z.leb_le in N5. eauto.
  - destruct (last_sum d u) as [x|]; [now apply Z.leb_le|easy].
Qed.

Let CIRC : circuit_ok ct = true. Proof. apply unit_parts. Qed.
Let fits_in i : in_circuit m i = true -> fits m v i. Proof. apply (in_map_fits ct v SOL CIRC). Qed.

Lemma element_at k : (k < length (leaves u))%nat ->
  nth k (elements d (words_in u v)) dummy =
    {| index := Z.of_nat k; a_word := v (nth k (a_nodes u) 1%positive); b_word := v (nth k (b_nodes u) 1%positive);
       scaled_by := match scales d with None => [] | Some (f, n) =>
         let s := nth (k / n)%nat (scale_words (words_in u v)) (0, 0) in [decode f (fst s); decode f (snd s)] end |}.
Proof.
  intros K. destruct unit_parts as [_ [_ [_ [_ [_ [LA [LB _]]]]]]]. unfold elements.
  assert (NU : forall {A} (l : list A) j, numbered j l = combine (seq j (length l)) l) by (clear; intros A l; induction l; intros j; simpl; auto; now rewrite IHl).
  rewrite NU. set (g := fun kx : nat * (Z * Z) => _).
  assert (LP : length (pairs (words_in u v)) = length (leaves u)) by (cbn [words_in pairs]; rewrite combine_length, !map_length; lia).
  rewrite (nth_indep _ _ (g (0%nat, (v 1%positive, v 1%positive)))) by (rewrite map_length, combine_length, seq_length; lia).
  rewrite map_nth, combine_nth by (now rewrite seq_length). rewrite seq_nth by lia. cbn [Nat.add words_in pairs].
  rewrite (combine_nth (map v (a_nodes u)) (map v (b_nodes u)) k (v 1%positive) (v 1%positive)) by (rewrite !map_length; lia). rewrite (map_nth v (a_nodes u)), (map_nth v (b_nodes u)). reflexivity.
Qed.

Lemma elements_length : length (elements d (words_in u v)) = length (leaves u).
Proof.
  destruct unit_parts as [_ [_ [_ [_ [_ [LA [LB _]]]]]]]. unfold elements. rewrite map_length.
  assert (NU : forall {A} (l : list A) j, length (numbered j l) = length l) by (clear; intros A l; induction l; intros j; simpl; auto).
  rewrite NU. cbn [words_in pairs]. rewrite combine_length, !map_length. lia.
Qed.

Lemma word_fits f w : factor_words_ok ct f w = true -> format_ok f = true /\ 0 <= v w < 2 ^ word_width f.
Proof. unfold factor_words_ok. rewrite !andb_true_iff, Z.eqb_eq. intros [[A B] C0]. split; auto. rewrite <- C0. apply (fits_in _ B). Qed.

Lemma shown_factor_sig y : format_ok (format_of y) = true -> 0 <= s_frac (shown_factor y) /\ 0 <= value m v (s_sig (shown_factor y)).
Proof.
  intros F. destruct (word_sig m v (format_of y) (word y) F) as [A B]. unfold shown_factor. destruct (rule y); cbn [shown_flush s_frac s_sig value]; split; auto; try (match goal with |- context [if ?b then _ else _] => destruct b end; lia).
Qed.

Lemma leaf_value k l : In (k, l) (numbered_leaves u) -> same_val (product_value d (nth k (elements d (words_in u v)) dummy)) (val_in v (product_number l)).
Proof.
  intros I. destruct unit_parts as [_ [DO [_ [_ [_ [LA [LB [LO _]]]]]]]]. rewrite forallb_forall in LO. specialize (LO _ I).
  assert (K : (k < length (leaves u))%nat). { unfold numbered_leaves in I. apply in_combine_l in I. apply in_seq in I. lia. }
  assert (LC : Forall (holds ct) (leaf_claims_at ct d u (k, l))). { unfold unit_claims in CL. rewrite Forall_app in CL. destruct CL as [C1 _]. rewrite Forall_flat_map, Forall_forall in C1. exact (C1 _ I). }
  rewrite (element_at k K). destruct (design_parts d DO) as [[B [_ [NS PR]]] [_ [CV _]]].
  unfold leaf_ok_at, leaf_claims_at in *. destruct (factors_at d u k l) as [x r] eqn:FA. rewrite !andb_true_iff in LO. destruct LO as [[[[[LO IC] NO] AO] RO_] CO].
  rewrite !Forall_app in LC. destruct LC as [C1 [C2 [C3 C4]]]. fold m in LO, AO, RO_, C3, C4 |- *. rewrite forallb_forall in IC.
  set (e := {| index := Z.of_nat k; a_word := _; b_word := _; scaled_by := _ |}).
  assert (EX : same_val (exact_value d e) (val_in v (exact_number l)) /\ (converted d = None -> exact_value d e = val_in v (exact_number l))).
  { unfold exact_value, a_of, b_of, Design.factor, Design.operand, e. cbn [scaled_by a_word b_word]. rewrite B. change (1 =? 1) with true. cbv iota.
    unfold factors_at in FA. destruct (converted d) as [g|], (wide l) as [[ta tb]|]; try discriminate CO.
    - split; [|easy]. destruct CV as [Q1 [Q2 [Q3 [Q4 Q5]]]]. rewrite Q1, Q2, Q3, Q4, !flush_kept_. cbn [fold_left]. rewrite !andb_true_iff in CO. destruct CO as [[[W1 W2] W3] W4].
      rewrite Q4 in NO. destruct (normal l) eqn:NL; [easy|]. inversion FA; subst x r. rewrite Forall_app in C1. destruct C1 as [D1 D2].
      destruct (word_fits _ _ W1) as [F1 R1], (word_fits _ _ W2) as [F2 R2], (word_fits _ _ W3) as [F3 R3], (word_fits _ _ W4) as [F4 R4].
      pose proof (leaf_sound ct _ _ _ v LO C2 SOL (fun y Y => fits_in _ (IC y Y))) as S. cbn [fold_left] in S. unfold factor_value in S. cbn [rule format_of word] in S. rewrite !flush_kept_ in S. rewrite <- S.
      apply same_product; apply (conversion_sound ct v SOL); auto.
    - assert (G : forall z, z = val_in v (exact_number l) -> same_val z (val_in v (exact_number l)) /\ (@None format = None -> z = val_in v (exact_number l))) by (intros z ->; split; [apply same_refl|reflexivity]).
      apply G. clear G. destruct (normalise_factors (factors d)) eqn:NF.
      + rewrite (NS eq_refl) in *. cbn [fold_left]. inversion FA; subst x r. destruct (normal l) as [[ya yb]|]; [|easy]. rewrite andb_true_iff, !Z.eqb_eq in NO. destruct NO as [N1 N2].
        rewrite !Forall_app in C2. destruct C2 as [D1 [D2 D3]].
        pose proof LO as LO'. unfold leaf_ok in LO'. rewrite andb_true_iff in LO'. destruct LO' as [FO BB]. rewrite forallb_forall in FO. apply Z.eqb_eq in BB.
        match type of IC with forall z, In z (?a :: [?b]) -> _ => set (fx := a) in *; set (fy := b) in * end.
        assert (FX : format_ok (format_of fx) = true) by (specialize (FO fx (or_introl eq_refl)); rewrite !andb_true_iff in FO; tauto).
        assert (FY : format_ok (format_of fy) = true) by (specialize (FO fy (or_intror (or_introl eq_refl))); rewrite !andb_true_iff in FO; tauto).
        destruct (shown_factor_sig fx FX) as [X1 X2], (shown_factor_sig fy FY) as [Y1 Y2].
        pose proof (decode_factor ct fx [fy] (exact_number l) v LO (fun y Y => fits_in _ (IC y Y))) as DF.
        pose proof (normal_sound ct v SOL (shown_factor fx) ya N1 X1 X2 D1) as E1. pose proof (normal_sound ct v SOL (shown_factor fy) yb N2 Y1 Y2 D2) as E2.
        fold m in DF. rewrite <- DF in E1 by (now left). rewrite <- DF in E2 by (right; now left). unfold factor_value, fx, fy in E1, E2. cbn [rule format_of word] in E1, E2. rewrite E1, E2.
        apply (product_sound ct v SOL); auto. rewrite BB, N1, N2. reflexivity.
      + destruct (normal l) eqn:NL; [easy|].
        pose proof (leaf_sound ct _ _ _ v LO C2 SOL (fun y Y => fits_in _ (IC y Y))) as S. rewrite <- S. inversion FA; subst x r. cbn [fold_left]. unfold factor_value at 1 2. cbn [rule format_of word].
        destruct (scales d) as [[g n]|]; cbn [fold_left]; [|reflexivity]. rewrite andb_true_iff in CO. destruct CO as [SC _]. apply Nat.ltb_lt in SC. cbn [words_in scale_words].
        destruct (nth (k / n) (scale_nodes u) (1, 1)%positive) as [sa sb] eqn:Q.
        assert (W : nth (k / n) (map (fun ab => (v (fst ab), v (snd ab))) (scale_nodes u)) (0, 0) = (v sa, v sb)).
        { pose proof (map_nth (fun ab : positive * positive => (v (fst ab), v (snd ab))) (scale_nodes u) (1, 1)%positive (k / n)) as MN. rewrite Q in MN. cbn [fst snd] in MN.
          rewrite (nth_indep _ (0, 0) (v 1%positive, v 1%positive)) by (now rewrite map_length). exact MN. }
        rewrite W. cbn [fst snd fold_left]. unfold factor_value. cbn [rule format_of word]. now rewrite !flush_kept_. }
  destruct EX as [E1 E2].
  assert (AS : same_val (adjusted_value (subtracts d (index e)) (product_limit (factors d)) (exact_value d e)) (val_in v (adjusted l))).
  { apply (adjust_sound ct v SOL CIRC _ _ (exact_number l)); auto. intros U. apply E2. destruct (converted d); auto. exfalso. destruct CV as [_ [_ [_ [_ Q5]]]].
    cbn [e index] in U. unfold subtracts, subtracted in U. unfold unadjusted in Q5, U. destruct (odd_negated (factors d)), (even_negated (factors d)); try easy. cbn [orb] in Q5. destruct (Z.odd _); rewrite Q5 in U; easy. }
  unfold product_value, product_number. destruct (product_rounding (factors d)) as [[c|]|], (last_rounding l) as [[s z]|]; try easy.
  exact (rounding_sound ct v SOL CIRC c (adjusted l) s z _ RO_ C4 AS).
Qed.

(** A product with the NaNs of its factors. *)
Definition entry_like (x : val * (option Z * option Z)) (y : number * nans_of) : Prop :=
  same_val (fst x) (val_in v (fst y)) /\ (nans d <> OneWord -> nans_like ct v (snd x) (snd y)).

Lemma leaf_nans k l : In (k, l) (numbered_leaves u) -> nans d <> OneWord -> nans_like ct v (element_nans d (nth k (elements d (words_in u v)) dummy)) (plan_nans d u k).
Proof.
  intros I NW. destruct unit_parts as [_ [DO [_ [_ [_ [_ [_ [LO _]]]]]]]]. rewrite forallb_forall in LO. specialize (LO _ I).
  assert (K : (k < length (leaves u))%nat). { unfold numbered_leaves in I. apply in_combine_l in I. apply in_seq in I. lia. }
  destruct (design_parts d DO) as [_ [[_ [_ [ND _]]] _]]. assert (NF : converted d = None /\ fbits (a_format d) <= fbits (d_format d) /\ fbits (b_format d) <= fbits (d_format d)).
  { unfold nan_design in ND. destruct (nans d); try easy; rewrite !andb_true_iff, !Z.leb_le in ND; destruct (converted d); repeat split; try tauto; destruct ND as [[[[[_ ND] _] _] _] _]; easy. }
  destruct NF as [CV [FA FB]]. rewrite (element_at k K). unfold leaf_ok_at, factors_at in LO. rewrite CV in LO. rewrite !andb_true_iff in LO. destruct LO as [[[[[LO IC] _] _] _] _].
  unfold leaf_ok in LO. rewrite andb_true_iff in LO. destruct LO as [LO _]. cbn [forallb format_of rule word] in LO, IC. rewrite !andb_true_iff, !Z.leb_le in LO. rewrite !andb_true_iff in IC.
  destruct LO as [[[F1 _] W1] [[[F2 _] W2] _]]. destruct IC as [I1 [I2 _]].
  assert (FW : forall f w, in_circuit m w = true -> width_in m w <= word_width f -> 0 <= v w < 2 ^ word_width f).
  { intros f w IW LW. destruct (fits_in _ IW) as [N0 N1]. split; auto. eapply Z.lt_le_trans; [exact N1|]. apply Z.pow_le_mono_r; lia. }
  unfold element_nans, plan_nans. cbn [a_word b_word fst snd]. split; cbn [fst snd]; symmetry; apply word_nan_is; auto.
Qed.

(** The significands of the factors of a product in pieces. *)
Lemma leaf_factors k l : In (k, l) (numbered_leaves u) -> cutting_of d <> Whole -> forall y, product_value d (nth k (elements d (words_in u v)) dummy) = Num y ->
  let e := nth k (elements d (words_in u v)) dummy in
  (sig (num_of (a_of d e)) = value m v (fst (factor_significands d u k l)) /\ frac (num_of (a_of d e)) = fbits (a_format d)) /\
  (sig (num_of (b_of d e)) = value m v (snd (factor_significands d u k l)) /\ frac (num_of (b_of d e)) = fbits (b_format d)).
Proof.
  intros I C. destruct unit_parts as [_ [DO [_ [_ [_ [LA [LB [LO _]]]]]]]]. rewrite forallb_forall in LO. specialize (LO _ I).
  assert (K : (k < length (leaves u))%nat). { unfold numbered_leaves in I. apply in_combine_l in I. apply in_seq in I. lia. }
  assert (LC : Forall (holds ct) (leaf_claims_at ct d u (k, l))). { unfold unit_claims in CL. rewrite Forall_app in CL. destruct CL as [C1 _]. rewrite Forall_flat_map, Forall_forall in C1. exact (C1 _ I). }
  destruct (design_parts d DO) as [[B _] [[_ [CO _]] _]].
  assert (NO : scales d = None /\ converted d = None). { unfold cutting_ok in CO. destruct (cutting_of d); try easy. rewrite !andb_true_iff in CO. destruct (scales d), (converted d); try easy; exfalso; repeat match goal with H : _ /\ _ |- _ => destruct H end; easy. }
  destruct NO as [SN CN]. rewrite (element_at k K). cbv zeta. set (e := {| index := _; a_word := _; b_word := _; scaled_by := _ |}). intros y Y.
  assert (NUM : is_num (a_of d e) = true /\ is_num (b_of d e) = true).
  { assert (SB : scaled_by e = []) by (unfold e; cbn [scaled_by]; now rewrite SN). unfold product_value, exact_value in Y. rewrite SB in Y. cbn [fold_left] in Y.
    assert (G : forall z, match z with Num _ => False | _ => True end -> match product_rounding (factors d) with Some (Floating c) => rounded_value c (adjusted_value (subtracts d (index e)) (product_limit (factors d)) z) | _ => adjusted_value (subtracts d (index e)) (product_limit (factors d)) z end <> Num y).
    { intros [z|t|] H; [destruct H| |]; unfold adjusted_value; destruct (subtracts d (index e)); cbn [negate]; destruct (product_rounding (factors d)) as [[]|]; discriminate. }
    destruct (a_of d e) as [y1|t|], (b_of d e) as [y2|t'|]; auto; exfalso; refine (G _ _ Y); cbn [product]; try (destruct (is_zero _)); exact Logic.I. }
  destruct NUM as [NA NB]. clear Y y. unfold factor_significands. unfold leaf_ok_at, leaf_claims_at in *. destruct (factors_at d u k l) as [x r] eqn:FA. rewrite !andb_true_iff in LO. destruct LO as [[[[[LO IC] NO] _] _] _].
  rewrite !Forall_app in LC. destruct LC as [_ [C2 _]]. fold m in LO. rewrite forallb_forall in IC. unfold factors_at in FA. rewrite CN, SN in FA. inversion FA; subst x r. clear FA.
  match type of IC with forall z, In z (?a :: [?b]) -> _ => set (fx := a) in *; set (fy := b) in * end.
  pose proof LO as LO'. unfold leaf_ok in LO'. rewrite andb_true_iff in LO'. destruct LO' as [FO BB]. rewrite forallb_forall in FO. apply Z.eqb_eq in BB.
  assert (FX : format_ok (format_of fx) = true) by (specialize (FO fx (or_introl eq_refl)); rewrite !andb_true_iff in FO; tauto).
  assert (FY : format_ok (format_of fy) = true) by (specialize (FO fy (or_intror (or_introl eq_refl))); rewrite !andb_true_iff in FO; tauto).
  pose proof (decode_factor ct fx [fy] (exact_number l) v LO (fun y Y => fits_in _ (IC y Y))) as DF. fold m in DF.
  assert (SF : forall z, s_frac (shown_factor z) = fbits (format_of z)) by (intros z; unfold shown_factor; now destruct (rule z)).
  assert (AO : a_of d e = (if normalise_factors (factors d) then on_num normalised (factor_value v fx) else factor_value v fx)).
  { unfold a_of, Design.factor, Design.operand, e, factor_value, fx. cbn [a_word rule format_of word]. rewrite CN, B. reflexivity. }
  assert (BO : b_of d e = (if normalise_factors (factors d) then on_num normalised (factor_value v fy) else factor_value v fy)).
  { unfold b_of, Design.factor, Design.operand, e, factor_value, fy. cbn [b_word rule format_of word]. rewrite CN, B. reflexivity. }
  rewrite (DF fx) in AO by (now left). rewrite (DF fy) in BO by (right; now left).
  assert (NI : forall w, is_num (val_in v w) = true -> sig (num_of (val_in v w)) = v (significand w) /\ frac (num_of (val_in v w)) = bits_below w).
  { intros w. unfold val_in. destruct (_ =? 1); [easy|]. destruct (_ =? 1); [easy|]. auto. }
  destruct (normalise_factors (factors d)) eqn:NF.
  - destruct (normal l) as [[ya yb]|]; [|easy]. rewrite andb_true_iff, !Z.eqb_eq in NO. destruct NO as [N1 N2]. rewrite !Forall_app in C2. destruct C2 as [D1 [D2 _]].
    destruct (shown_factor_sig fx FX) as [X1 X2], (shown_factor_sig fy FY) as [Y1 Y2].
    pose proof (normal_sound ct v SOL (shown_factor fx) ya N1 X1 X2 D1) as E1. pose proof (normal_sound ct v SOL (shown_factor fy) yb N2 Y1 Y2 D2) as E2. fold m in E1, E2. rewrite E1 in AO. rewrite E2 in BO.
    rewrite AO in NA |- *. rewrite BO in NB |- *. destruct (NI ya NA) as [-> ->], (NI yb NB) as [-> ->]. cbn [fst snd value]. rewrite N1, N2, !SF. auto.
  - destruct (normal l); [easy|]. cbn [fst snd].
    assert (G : forall z, In z (fx :: [fy]) -> is_num (val_of m v (shown_factor z)) = true -> sig (num_of (val_of m v (shown_factor z))) = value m v (factor_term z) /\ frac (num_of (val_of m v (shown_factor z))) = fbits (format_of z)).
    { intros z Z_ N. unfold val_of in *. destruct (truth m v (s_nan (shown_factor z))) eqn:N1; [easy|]. destruct (truth m v (s_inf (shown_factor z))) eqn:N2; [easy|]. cbn [num_of sig frac]. rewrite SF. split; auto. symmetry.
      exact (factor_term_is ct fx [fy] (exact_number l) v C2 SOL z Z_ N1 N2). }
    rewrite AO in NA |- *. rewrite BO in NB |- *. split; [exact (G fx (or_introl eq_refl) NA)|exact (G fy (or_intror (or_introl eq_refl)) NB)].
Qed.

Lemma elements_good : Forall (good d) (elements d (words_in u v)).
Proof.
  destruct unit_parts as [_ [DO _]]. destruct (design_parts d DO) as [_ [[_ [CO _]] _]].
  apply Forall_forall. intros x I. destruct (In_nth _ _ dummy I) as [k [K <-]]. rewrite elements_length in K.
  assert (J : In (k, nth k (leaves u) (LeafPlan None [] None (c_number u) (c_number u) None)) (numbered_leaves u)).
  { unfold numbered_leaves. set (z := LeafPlan _ _ _ _ _ _). assert (E : (k, nth k (leaves u) z) = nth k (combine (seq 0 (length (leaves u))) (leaves u)) (0%nat, z)) by (rewrite combine_nth by (now rewrite seq_length); now rewrite seq_nth).
    rewrite E. apply nth_In. rewrite combine_length, seq_length. lia. }
  split.
  - intros y Y. destruct (cutting_of d) eqn:C; [now left| |]; right; (destruct (leaf_factors k _ J ltac:(congruence) y Y) as [[_ A] [_ B]]; auto).
  - destruct (cutting_of d) eqn:C; [now left| |]; right; rewrite (element_at k K); cbn [scaled_by]; unfold cutting_ok in CO; rewrite C in CO; try easy; rewrite !andb_true_iff in CO; destruct (scales d); auto; exfalso; repeat match goal with H : _ /\ _ |- _ => destruct H end; easy.
Qed.

Lemma entry_is k l : In (k, l) (numbered_leaves u) -> Forall2 entry_like (entry d (nth k (elements d (words_in u v)) dummy)) (plan_entry d u (k, l)).
Proof.
  intros I. destruct unit_parts as [_ [DO [_ [_ [_ [_ [_ [_ [PO _]]]]]]]]]. destruct (design_parts d DO) as [_ [[_ [CO _]] _]].
  pose proof (leaf_value k l I) as LV. unfold entry, plan_entry, product_terms. cbn [fst snd]. destruct (cutting_of d) as [|size dropped|] eqn:C.
  1,3: constructor; [|constructor]; split; [exact LV|intros NW; exact (leaf_nans k l I NW)].
  rewrite forallb_forall in PO. specialize (PO _ I). unfold pieces_ok_at in PO. rewrite C in PO. cbn [fst snd] in PO.
  assert (PC : Forall (holds ct) (pieces_claims_at d u (k, l))). { unfold unit_claims in CL. rewrite !Forall_app in CL. destruct CL as [_ [C1 _]]. rewrite Forall_flat_map, Forall_forall in C1. exact (C1 _ I). }
  unfold pieces_claims_at in PC. rewrite C in PC. cbn [fst snd] in PC. destruct (factor_significands d u k l) as [sa sb] eqn:FS.
  assert (OW : nans d = OneWord). { unfold cutting_ok in CO. rewrite C in CO. rewrite !andb_true_iff in CO. destruct (nans d); auto; exfalso; repeat match goal with H : _ /\ _ |- _ => destruct H end; easy. }
  assert (F : Forall2 same_val (full_terms size dropped (fbits (a_format d)) (fbits (b_format d)) (a_of d (nth k (elements d (words_in u v)) dummy)) (b_of d (nth k (elements d (words_in u v)) dummy)) (product_value d (nth k (elements d (words_in u v)) dummy)))
    (map (val_in v) (pieces_at u k))).
  { apply (pieces_sound ct v SOL size dropped _ _ sa sb (product_number l)); auto. intros y Y. destruct (leaf_factors k l I ltac:(congruence) y Y) as [[A1 A2] [B1 B2]]. rewrite FS in A1, B1. cbn [fst snd] in A1, B1. auto. }
  revert F. generalize (pieces_at u k). intros zs. generalize (full_terms size dropped (fbits (a_format d)) (fbits (b_format d)) (a_of d (nth k (elements d (words_in u v)) dummy)) (b_of d (nth k (elements d (words_in u v)) dummy)) (product_value d (nth k (elements d (words_in u v)) dummy))).
  intros ts. revert zs. induction ts as [|t ts IH]; intros zs F; destruct zs as [|z zs]; inversion F; subst; [constructor|]. cbn [map]. constructor; [|now apply IH]. split; [assumption|]. intros NW. easy.
Qed.

Lemma entries_are : Forall2 (Forall2 entry_like) (map (entry d) (elements d (words_in u v))) (map (plan_entry d u) (numbered_leaves u)).
Proof.
  pose proof elements_length as EL. assert (LN : length (numbered_leaves u) = length (leaves u)) by (unfold numbered_leaves; rewrite combine_length, seq_length; lia).
  assert (G : forall k e, (k < length (numbered_leaves u))%nat -> Forall2 entry_like (entry d (nth k (elements d (words_in u v)) dummy)) (plan_entry d u (nth k (numbered_leaves u) e))).
  { intros k e K. assert (I : nth k (numbered_leaves u) e = (k, snd (nth k (numbered_leaves u) e)) /\ In (nth k (numbered_leaves u) e) (numbered_leaves u)).
    { split; [|now apply nth_In]. unfold numbered_leaves in *. destruct e as [e1 e2]. rewrite combine_nth by (now rewrite seq_length). rewrite seq_nth by lia. reflexivity. }
    destruct I as [I1 I2]. rewrite I1 in I2 |- *. exact (entry_is k _ I2). }
  assert (EN : length (elements d (words_in u v)) = length (numbered_leaves u)) by lia. clear EL LN.
  revert EN G. generalize (elements d (words_in u v)). intros es. generalize (numbered_leaves u). intros ns. revert es.
  induction ns as [|x ns IH]; intros es EL G; destruct es as [|e es]; try easy; [constructor|]. cbn [map]. constructor; [exact (G 0%nat x ltac:(simpl; lia))|].
  apply IH; [simpl in EL; lia|]. intros k e' K. exact (G (S k) e' ltac:(simpl; lia)).
Qed.

(** ** Blocks *)

Lemma forall2_nth {A B} (R : A -> B -> Prop) l r a b k : Forall2 R l r -> (k < length r)%nat -> R (nth k l a) (nth k r b).
Proof. intros H. revert k. induction H; intros k K; [simpl in K; lia|]. destruct k; auto. cbn [nth]. apply IHForall2. simpl in K. lia. Qed.

Lemma swapped_forall2 {A B} (R : A -> B -> Prop) l : forall r, Forall2 R l r -> Forall2 R (swapped l) (swapped r).
Proof.
  assert (G : forall n l r, (length l <= n)%nat -> Forall2 R l r -> Forall2 R (swapped l) (swapped r)).
  { induction n as [|n IH]; intros k r L F; [destruct k; [|simpl in L; lia]; inversion F; constructor|].
    destruct F as [|a b k r H F]; [constructor|]. destruct F as [|a' b' k r H' F]; [now repeat constructor|]. cbn [swapped]. do 2 (constructor; auto). apply IH; auto. simpl in L. lia. }
  intros r. now apply (G (length l)).
Qed.

Lemma concat_forall2 {A B} (R : A -> B -> Prop) l r : Forall2 (Forall2 R) l r -> Forall2 R (concat l) (concat r).
Proof. induction 1 as [|x y l r H F IH]; [constructor|]. cbn [concat]. now apply Forall2_app. Qed.

Lemma chunks_forall2 {A B} (R : A -> B -> Prop) l r a b :
  match composed d with None => True | Some how => forallb (forallb (fun k => k <? length r)%nat) (parts how) = true end ->
  Forall2 (Forall2 R) l r -> Forall2 (Forall2 R) (map (fun x => concat (in_order_of d x)) (chunks d l a)) (map (fun x => concat (in_order_of d x)) (chunks d r b)).
Proof.
  intros K H. assert (G : Forall2 (Forall2 (Forall2 R)) (chunks d l a) (chunks d r b)).
  { unfold chunks. assert (LE : length l = length r) by (clear -H; induction H; simpl; auto). destruct (composed d) as [how|]; [|rewrite LE; now apply cut_list_forall2].
    induction (parts how) as [|ks ps IH]; [constructor|]. cbn [forallb] in K. apply andb_prop in K. destruct K as [K1 K2]. cbn [flat_map]. apply Forall2_app; [|now apply IH]. apply cut_list_forall2.
    clear -H K1. induction ks as [|k ks IH]; [constructor|]. cbn [forallb] in K1. apply andb_prop in K1. destruct K1 as [K1 K2]. apply Nat.ltb_lt in K1. cbn [map]. constructor; [now apply forall2_nth|now apply IH]. }
  clear -G. induction G as [|x y q1 q2 H G IH]; [constructor|]. cbn [map]. constructor; auto. apply concat_forall2. unfold in_order_of. destruct (Design.odd_first d); auto. now apply swapped_forall2.
Qed.

Definition not_negative (w : val) : Prop := match w with Num x => 0 <= sig x | _ => True end.

Lemma flush_alike w r to : not_negative w -> flush_ok m (c_rule d) r to = true -> same_val w (val_in v r) -> same_val (flush (c_rule d) w) (flush (c_rule d) (val_in v r)).
Proof.
  intros NN FO S. assert (K : c_rule d = Kept \/ in_circuit m (significand r) = true).
  { unfold flush_ok in FO. destruct (c_rule d); auto; right; cbn [keeps_all andb orb] in FO; rewrite !andb_true_iff in FO; tauto. }
  destruct K as [-> |K]; [now rewrite !flush_kept_|].
  assert (RO_ : rule_ok (c_rule d) = true). { destruct unit_parts as [_ [DO _]]. destruct (design_parts d DO) as [_ [[_ [_ [_ X]]] _]]. exact X. }
  destruct w as [x|s|] eqn:E; destruct (val_in v r) as [y|t|] eqn:E2; try (now destruct S).
  assert (Y : 0 <= sig y). { unfold val_in in E2. destruct (_ =? 1); [easy|]. destruct (_ =? 1); [easy|]. inversion E2. cbn. apply (fits_in _ K). }
  cbn [same_val] in S. pose proof (same_subnormal x y NN Y S) as Q. cbn [flush]. rewrite Q.
  destruct (negb (is_subnormal y)) eqn:W; [exact S|]. destruct S as [N [Ex Vv]]. destruct (c_rule d); try exact (conj N (conj Ex Vv)); try easy;
  cbn [same_val]; repeat split; cbn [neg exp]; auto; unfold V, signed; cbn [neg sig]; try (destruct (neg x), (neg y)); change (- 0) with 0; now rewrite !Rmult_0_l.
Qed.

Lemma block_is ps w t : ps <> [] -> tree_for (sums d) (length ps) = Some t -> block_value d ps w = eval_steps (block_rule d) ps (flush (c_rule d) w) t.
Proof.
  intros NE T. unfold block_value, block_rule. destruct (sums d) eqn:Q; cbn [inner_rule]; try (apply (tree_is ps (flush (c_rule d) w) _ (c_rule d) t NE); [intros; discriminate|exact T]). cbn [tree_for] in T. inversion T; subst. reflexivity.
Qed.

Lemma first_like es ns : Forall2 entry_like es ns -> Forall2 same_val (map fst es) (map (val_in v) (map fst ns)).
Proof. induction 1 as [|a b l k [H _] F IH]; [constructor|]. cbn [map]. now constructor. Qed.
Lemma second_like es ns : nans d <> OneWord -> Forall2 entry_like es ns -> Forall2 (nans_like ct v) (map snd es) (map snd ns).
Proof. intros NW. induction 1 as [|a b l k [_ H] F IH]; [constructor|]. cbn [map]. constructor; auto. Qed.

(** What a block hands on. *)
Record rightly (st : val * Z) (q : handed) : Prop := {
  r_value : same_val (fst st) (val_in v (handed_on q));
  r_size : not_negative (fst st);
  r_usual : (v (nan (handed_on q)) =? 1) = false -> (v (inf (handed_on q)) =? 1) = false -> forallb (truth m v) (usually q) = true;
  r_nan : Design.is_nan (fst st) = true -> snd st = value m v (nan_term q)
}.

Lemma flush_nan r w : Design.is_nan (flush r w) = Design.is_nan w.
Proof. destruct w as [x| |]; auto. cbn [flush]. destruct (negb (is_subnormal x)); auto. now destruct r. Qed.

Lemma block_sound ns x es st q : block_ok ct d ns x = true -> Forall (holds ct) (block_claims ct d ns x) -> Forall2 entry_like es ns ->
  same_val (flush (c_rule d) (fst st)) (val_in v (c_counted x)) -> (Design.is_nan (fst st) = true -> snd st = value m v (nan_term q)) ->
  rightly (state_step d st es) (Handed (block_result x) (block_usual d ns x) (block_word d ns x (nan_term q))).
Proof.
  intros BO BC F CV NQ. pose proof (first_like es ns F) as PS.
  assert (LP : length (map fst es) = length ns) by (rewrite map_length; clear -F; induction F; simpl; auto).
  unfold block_ok, block_claims in BO, BC. unfold block_result, block_usual.
  assert (NP : forall q', sum_plan x = InTree q' -> Design.is_nan (fst (state_step d st es)) = true -> snd (state_step d st es) = value m v (block_word d ns x (nan_term q))).
  { intros q' SP IN. unfold state_step in IN |- *. cbn [fst snd] in IN |- *. rewrite IN. cbn [negb]. rewrite SP in BO, BC. rewrite andb_true_iff in BO. destruct BO as [BO NS].
    destruct (tree_for (sums d) (length ns)) as [t|] eqn:TF; [|easy]. destruct (root_sum q'); [|easy]. apply andb_prop in BO. destruct BO as [TO _].
    unfold nan_in_block, block_word. rewrite SP.
    assert (G : nans d = OneWord \/ (nans d <> OneWord /\ match nans d with OneWord | ProductsThenC _ => False | _ => True end)).
    { destruct unit_parts as [_ [DO _]]. destruct (design_parts d DO) as [_ [[_ [_ [ND _]]] _]]. unfold nan_design in ND. destruct (nans d); auto; try easy; right; (split; [easy|]);
      rewrite !andb_true_iff in ND; destruct ND as [_ ND]; auto. destruct (sums d); easy. }
    destruct G as [G|[NW GR]]; [rewrite G; now destruct (sums d)|].
    assert (CW : nan_in ct v (MaybeNan (Is (nan (c_counted x))) (nan_term q)) = if Design.is_nan (flush (c_rule d) (fst st)) then Some (snd st) else None).
    { unfold nan_in. cbn [present nan_word_of truth]. rewrite <- (nan_same v _ _ CV), flush_nan. destruct (Design.is_nan (fst st)) eqn:IS; [|reflexivity]. now rewrite (NQ eq_refl). }
    assert (SL := second_like es ns NW F).
    assert (IS : (exists t', sums d = InSteps t') \/ (block_rule d = Kept /\ nan_sums (sums d) (length ns) = true)).
    { unfold block_rule. destruct (sums d); try (right; split; [reflexivity|]; destruct (nans d); easy). left. eauto. }
    destruct IS as [[t' IS]|[BR NN]].
    - unfold block_rule in *. rewrite IS in *. cbn [tree_for inner_rule] in *. inversion TF; subst t'. clear TF.
      pose proof (steps_term_is ct v SOL CIRC (nans d) (Design.nan_word d) (c_rule d) (map fst ns) (c_counted x) (map fst es) (flush (c_rule d) (fst st)) PS CV (map snd es) (map snd ns)
        (MaybeNan (Is (nan (c_counted x))) (nan_term q)) SL t q' TO BC) as ST. rewrite CW in ST.
      destruct (nans d); try easy; symmetry; etransitivity; [apply first_is| |apply first_is| |apply first_is|]; cbn [map first_some]; rewrite <- ST; now destruct (steps_nan _ _ _ _ _ _ _ _).
    - rewrite BR in TO, BC.
      pose proof (block_term_is ct v SOL CIRC (nans d) (Design.nan_word d) (map fst ns) (c_counted x) (map fst es) (flush (c_rule d) (fst st)) PS CV (sums d) t q' (map snd es) (map snd ns)
        (MaybeNan (Is (nan (c_counted x))) (nan_term q))) as BT. rewrite !map_length in BT. specialize (BT TF NN TO BC SL eq_refl GR). rewrite CW in BT.
      fold m in BT. destruct (nans d); try easy; destruct (sums d); try easy; symmetry; exact BT. }
  destruct (sum_plan x) as [q'|q'|q'|q'|q'] eqn:SP.
  5: { destruct (sums d) as [[e|e fx]| | | | | | | |] eqn:SD; try easy. destruct (nans d) eqn:ND; try easy. rewrite !andb_true_iff in BO. destruct BO as [[WO NE] CE]. apply numbers_eq in NE. apply number_eq in CE.
    destruct (window_parts ct e q' v SOL CIRC WO) as [FB [_ [_ [_ [_ [_ [EO _]]]]]]].
    assert (BV : block_value d (map fst es) (fst st) = sum_values e (map (val_in v) (window_operands q'))).
    { unfold block_value. rewrite SD. change (block_sum (OneSum (Stage e)) (c_rule d) None [] (map fst es) (flush (c_rule d) (fst st))) with (sum_values e (map fst es ++ [flush (c_rule d) (fst st)])).
      unfold window_operands. rewrite map_app, NE, CE. apply regular_same; [unfold regular; rewrite FB; apply orb_true_r|]. apply Forall2_app; [exact PS|]. constructor; [exact CV|constructor]. }
    pose proof (window_sound ct e q' v SOL CIRC WO BC) as S. rewrite <- BV in S.
    constructor; cbn [handed_on usually nan_term]; unfold state_step; cbn [fst snd]; auto.
    - unfold not_negative. destruct (block_value d (map fst es) (fst st)) as [y| |] eqn:BE; auto. symmetry in BV. revert BV. apply sum_nonneg.
      unfold ending_ok in EO. rewrite !andb_true_iff, !Z.leb_le in EO. tauto.
    - exact (window_usual ct e q' v SOL CIRC WO BC).
    - intros IN. rewrite IN. cbn [negb]. unfold nan_in_block, block_word. now rewrite SD, ND. }
  4: { destruct (sums d) as [| | |e| | | | |] eqn:SD; try easy. assert (FO : framed_ok m e (map fst ns) q' && number_eqb (frame_c q') (c_counted x) = true /\ match nans d with OneWord | ProductsThenC _ => True | _ => False end) by (destruct (nans d); easy).
    clear BO. destruct FO as [BO NK]. rewrite andb_true_iff in BO. destruct BO as [FO CE]. apply number_eq in CE.
    assert (BV : block_value d (map fst es) (fst st) = framed_value e (map (val_in v) (map fst ns)) (val_in v (frame_c q'))).
    { unfold block_value. rewrite SD. change (block_sum (Framed e) (c_rule d) None [] (map fst es) (flush (c_rule d) (fst st))) with (framed_value e (map fst es) (flush (c_rule d) (fst st))). rewrite CE. now apply framed_same. }
    pose proof (framed_sound ct e _ q' v SOL CIRC FO BC) as S. rewrite <- BV in S.
    constructor; cbn [handed_on usually nan_term]; unfold state_step; cbn [fst snd]; auto.
    - unfold not_negative. destruct (block_value d (map fst es) (fst st)) as [y| |]; auto. exact (framed_nonneg ct e _ q' v SOL CIRC FO _ _ _ (eq_sym BV)).
    - exact (framed_usual_true ct e _ q' v SOL CIRC FO BC).
    - intros IN. rewrite IN. cbn [negb]. unfold nan_in_block, block_word. rewrite SP, SD. destruct (nans d) as [| | | |k] eqn:ND; try easy.
      assert (CW : nan_in ct v (MaybeNan (Is (nan (c_counted x))) (nan_term q)) = if Design.is_nan (flush (c_rule d) (fst st)) then Some (snd st) else None).
      { unfold nan_in. cbn [present nan_word_of truth]. rewrite <- (nan_same v _ _ CV), flush_nan. destruct (Design.is_nan (fst st)) eqn:IS; [|reflexivity]. now rewrite (NQ eq_refl). }
      rewrite <- CW. symmetry. apply then_c_is; auto. apply second_like; auto. rewrite ND. discriminate. }
  3: { destruct (sums d) as [| | | |r| | | |] eqn:SD; try easy. destruct (nans d) eqn:ND; try easy. rewrite andb_true_iff in BO. destruct BO as [DO CE]. apply number_eq in CE.
    assert (PR : front_ok m (products_sum r) (down_bits r) (first_front q') = true /\ 0 <= p (out (products_sum r))).
    { destruct (down_parts ct r _ q' v SOL CIRC DO) as [_ [FO [_ [RO_ _]]]]. split; [exact FO|]. unfold rounding_ok, ending_ok in RO_. rewrite !andb_true_iff, !Z.leb_le in RO_. tauto. }
    destruct PR as [FO P0]. destruct (ok_parts ct (products_sum r) (down_bits r) (first_front q') FO) as [Fb [_ [_ [NM _]]]].
    assert (BV : block_value d (map fst es) (fst st) = down_value r (map (val_in v) (map fst ns)) (val_in v (added q'))).
    { unfold block_value. rewrite SD. change (block_sum (RoundedDown r) (c_rule d) None [] (map fst es) (flush (c_rule d) (fst st))) with (down_value r (map fst es) (flush (c_rule d) (fst st))). rewrite CE. apply down_same; eauto. }
    pose proof (down_sound ct r _ q' v SOL CIRC DO BC) as S. rewrite <- BV in S.
    constructor; cbn [handed_on usually nan_term]; unfold state_step; cbn [fst snd]; auto.
    - unfold not_negative. rewrite BV. unfold down_value, on_numbers. destruct (numbers _) eqn:NU.
      + match goal with |- match ?w with _ => _ end => destruct w as [y| |] eqn:W end; auto. unfold round_down_sum, add_c in W. cbv zeta in W. destruct (cut_again r); revert W; now apply convert_nonneg.
      + unfold special_sum. repeat match goal with |- context [existsb ?a ?b] => destruct (existsb a b) end; exact I.
    - exact (down_usual ct r _ q' v SOL CIRC DO BC).
    - intros IN. rewrite IN. cbn [negb]. unfold nan_in_block, block_word. now rewrite SD, ND. }
  2: { destruct (sums d) as [| | | | |e [|]| | |] eqn:SD; try easy. destruct (nans d) eqn:ND; try easy. rewrite !andb_true_iff in BO. destruct BO as [[AO NE] CE]. apply numbers_eq in NE. apply number_eq in CE.
    assert (BV : block_value d (map fst es) (fst st) = after_value e (map (val_in v) (numbers_of (first q'))) (val_in v (its (its_c q')))).
    { unfold block_value. rewrite SD. rewrite block_after, NE, CE.
      unfold after_ok, front_ok in AO. rewrite !andb_true_iff in AO. apply after_same; auto.
      - destruct (fraction_bits e) as [f|]; [now exists f|]. exfalso. repeat match goal with H : _ /\ _ |- _ => destruct H end. easy.
      - apply negb_true_iff. tauto. }
    pose proof (after_sound ct e q' v SOL CIRC AO BC) as S. rewrite <- BV in S.
    constructor; cbn [handed_on usually nan_term]; unfold state_step; cbn [fst snd]; auto.
    - unfold not_negative. rewrite BV. unfold after_value, on_numbers. destruct (numbers _) eqn:NU.
      + match goal with |- match ?w with _ => _ end => destruct w as [y| |] eqn:W end; auto. unfold after_numbers, plus in W. revert W. apply convert_nonneg.
        unfold after_ok, ending_ok in AO. rewrite !andb_true_iff, !Z.leb_le in AO. tauto.
      + unfold special_sum. repeat match goal with |- context [existsb ?a ?b] => destruct (existsb a b) end; exact I.
    - exact (after_usual ct e q' v SOL CIRC AO BC).
    - intros IN. rewrite IN. cbn [negb]. unfold nan_in_block, block_word. now rewrite SD, ND. }
  specialize (NP q' eq_refl).
  rewrite andb_true_iff in BO. destruct BO as [BO _].
  destruct (tree_for (sums d) (length ns)) as [t|] eqn:TF; [|easy]. destruct (root_sum q') as [s|] eqn:RS; [|easy]. apply andb_prop in BO. destruct BO as [TO NZ]. apply negb_true_iff, Nat.eqb_neq in NZ.
  destruct q' as [r|s0 [r|] qs]; try easy. cbn [root_sum] in RS. inversion RS; subst s0. clear RS.
  destruct t as [k| | |sg tl]; try easy; try (destruct sg; easy).
  destruct (tree_sound ct v SOL CIRC (block_rule d) (map fst ns) (c_counted x) (map fst es) (flush (c_rule d) (fst st)) PS CV (Step sg tl) (Sum s None qs) TO BC) as [_ S].
  assert (BI : block_value d (map fst es) (fst st) = eval_steps (block_rule d) (map fst es) (flush (c_rule d) (fst st)) (Step sg tl)).
  { apply block_is; [intros Q; rewrite Q in LP; simpl in LP; lia|now rewrite LP]. }
  destruct sg as [e|e y]; [|easy].
  assert (SO : summed_ok m e s = true) by (cbn [tree_ok] in TO; rewrite !andb_true_iff in TO; tauto).
  assert (SC : Forall (holds ct) (summed_claims m e s)) by (cbn [tree_claims] in BC; rewrite !Forall_app in BC; tauto).
  assert (P : 0 <= p (out e)). { pose proof SO as O1. unfold summed_ok, fused_ok in O1. rewrite !andb_true_iff in O1. assert (EO : ending_ok m (out (sum_design e s)) (closing (sum_body s)) = true) by tauto. unfold ending_ok in EO. rewrite !andb_true_iff, !Z.leb_le in EO. destruct s; cbn [sum_design odd_sum out] in EO; tauto. }
  constructor; cbn [handed_on usually nan_term step_of]; auto.
  - unfold state_step. cbn [fst]. rewrite BI. exact S.
  - unfold state_step. cbn [fst]. rewrite BI. cbn [eval_steps add]. unfold not_negative. match goal with |- context [sum_values e ?z] => destruct (sum_values e z) eqn:SV end; auto. eapply sum_nonneg; eauto.
  - exact (summed_usual_true ct v SOL CIRC e s SO SC).
Qed.

Lemma blocks_sound l : forall cs ess st q, rightly st q -> Forall2 (Forall2 entry_like) ess cs -> blocks_ok ct d cs (handed_on q) l = true ->
  Forall (holds ct) (blocks_claims ct d cs (usually q) (handed_on q) l) -> rightly (fold_left (state_step d) ess st) (blocks_last d cs l q).
Proof.
  induction l as [|x l IH]; intros cs ess st q R F BO BC; destruct cs as [|ns cs]; cbn [blocks_ok] in BO; try easy; inversion F as [|es ? ess' ? E F']; subst; cbn [fold_left blocks_last]; auto.
  cbn [blocks_claims] in BC. rewrite !andb_true_iff in BO. destruct BO as [[FO BO1] BO2]. rewrite !Forall_app in BC. destruct BC as [C1 [C2 C3]].
  assert (CV : same_val (flush (c_rule d) (fst st)) (val_in v (c_counted x))).
  { rewrite <- (flush_sound ct v SOL CIRC _ _ _ _ FO C1 (r_usual _ _ R)). exact (flush_alike _ _ _ (r_size _ _ R) FO (r_value _ _ R)). }
  apply (IH cs ess' (state_step d st es) (Handed (block_result x) (block_usual d ns x) (block_word d ns x (nan_term q)))); auto.
  exact (block_sound ns x es st q BO1 C2 E CV (r_nan _ _ R)).
Qed.

Theorem unit_sound : v (root u) = compute d (words_in u v).
Proof.
  destruct unit_parts as [_ [DO [NH [LN [CN [LA [LB [LO [_ [CO [CI [PI [BO [AD BB]]]]]]]]]]]]]].
  pose proof entries_are as PR.
  assert (CH : Forall2 (Forall2 entry_like) (map (fun b => concat (in_order_of d b)) (chunks d (map (entry d) (elements d (words_in u v))) (entry d dummy))) (chunked d u)).
  { unfold chunked. apply chunks_forall2; [|exact PR]. rewrite map_length. unfold numbered_leaves. rewrite combine_length, seq_length, Nat.min_id. exact PI. }
  rewrite (compute_is d DO _ NH elements_good). cbv zeta.
  unfold unit_claims in CL. rewrite !Forall_app in CL. destruct CL as [C1 [_ [C2 [C3 [C4 C5]]]]].
  assert (CV : decode (c_format d) (c_word (words_in u v)) = val_in v (c_number u)).
  { pose proof (leaf_sound ct (c_factor d u) [] (c_number u) v CO C2 SOL) as S. cbn [fold_left] in S. unfold factor_value in S. cbn [c_factor rule format_of word] in S. rewrite flush_kept_ in S. cbn [words_in c_word]. apply S. intros y [<-|[]]. apply (fits_in _ CI). }
  pose proof CO as CO'. unfold leaf_ok in CO'. rewrite andb_true_iff in CO'. destruct CO' as [CO1 _]. cbn [forallb c_factor format_of rule word] in CO1. rewrite !andb_true_iff, Z.leb_le in CO1. destruct CO1 as [[[FO _] WD] _].
  assert (FW : 0 <= v (c_input u) < 2 ^ word_width (c_format d)) by (destruct (fits_in _ CI) as [N0 N1]; split; auto; eapply Z.lt_le_trans; [exact N1|]; apply Z.pow_le_mono_r; lia).
  assert (NNC : not_negative (val_in v (c_number u))).
  { unfold not_negative. rewrite <- CV. cbn [words_in c_word]. rewrite (decode_shown m v (c_format d) (c_input u) FO FW). unfold val_of. destruct (truth m v _); auto. destruct (truth m v _); auto. cbn [sig]. now apply (word_sig m v (c_format d) (c_input u) FO). }
  unfold chain_state, last_sum, adding_claims, last_block, start_number in *.
  destruct (composed d) as [how|] eqn:CP.
  - destruct (adding u) as [[r s]|] eqn:AU; [|easy]. destruct AD as [A1 [A2 [A3 [A4 [x0 [A5 A6]]]]]]. rewrite !Forall_app in C4. destruct C4 as [D1 [D2 D3]].
    assert (ZV : decode (d_format d) 0 = val_in v (zero_number u)). { rewrite A5. pose proof (known_sound ct v SOL (start_num d) (zero_number u) A4 D1) as Q. rewrite <- Q. unfold start_num. now rewrite A5. }
    set (q0 := Handed (zero_number u) [] (start_word d u)) in *.
    assert (R0 : rightly (decode (d_format d) 0, 0) q0).
    { constructor; cbn [fst snd q0 handed_on usually]; [rewrite ZV; apply same_refl|now rewrite A5|reflexivity|]. rewrite A5. easy. }
    pose proof (blocks_sound (block_plans u) (chunked d u) _ _ q0 R0 CH BO C3) as RB. destruct RB as [Q1 _ Q2 _].
    pose proof (flush_sound ct v SOL CIRC _ Kept _ r A3 D2 Q2) as RV. rewrite flush_kept_ in RV. rewrite RV in Q1.
    pose proof (summed_sound ct v SOL CIRC (addition how) s A1 D3) as S. rewrite A2 in S. cbn [map] in S.
    destruct (design_parts d DO) as [_ [_ [_ M]]]. rewrite CP in M. destruct M as [_ [_ RG]].
    rewrite (regular_same (addition how) _ [val_in v r; val_in v (c_number u)] RG) by (constructor; [exact Q1|]; constructor; [rewrite CV; apply same_refl|constructor]).
    rewrite (encode_same _ _ _ _ S). cbn [handed_on usually nan_term] in C5, BB.
    apply (word_sound ct (d_format d) (Num_ (addition_nan how)) (addition_nan how) (sum_result s) (summed_usual (addition how) s) (root u) v (fun _ => eq_refl) BB C5 SOL).
    intros N I. exact (summed_usual_true ct v SOL CIRC (addition how) s A1 D3 N I).
  - destruct (adding u) as [[r s]|] eqn:AU; [easy|]. set (q0 := Handed (c_number u) [] (start_word d u)) in *.
    assert (R0 : rightly (start_of d (c_word (words_in u v))) q0).
    { constructor; unfold start_of; cbn [fst snd q0 handed_on usually nan_term]; [rewrite CV; apply same_refl|now rewrite CV|reflexivity|]. intros IN. rewrite IN. unfold start_word.
      assert (G : nans d = OneWord \/ (nans d <> OneWord /\ fbits (c_format d) <= fbits (d_format d))).
      { destruct (design_parts d DO) as [_ [[_ [_ [ND _]]] _]]. unfold nan_design in ND. destruct (nans d); auto; try easy; right; (split; [easy|]); rewrite !andb_true_iff, !Z.leb_le in ND; tauto. }
      destruct G as [G|[NW G]]; [now rewrite G|]. cbn [words_in c_word] in IN |- *.
      pose proof (word_nan_is ct v (c_format d) (d_format d) (c_input u) FO FW G) as WN. unfold nan_in, nan_of in WN. rewrite IN in WN. cbn [word_nan present nan_word_of] in WN.
      destruct (truth (widths_of ct) v _); [|easy]. inversion WN as [WE]. destruct (nans d); easy. }
    pose proof (blocks_sound (block_plans u) (chunked d u) _ _ q0 R0 CH BO C3) as RB. destruct RB as [Q1 _ Q2 Q3].
    rewrite (encode_same _ _ _ _ Q1).
    apply (word_sound ct (d_format d) (nan_term (blocks_last d (chunked d u) (block_plans u) q0)) _ _ _ (root u) v) with (2 := BB) (3 := C5); auto.
    intros N. symmetry. apply Q3. rewrite (nan_same v _ _ Q1). exact N.
Qed.
End Sound.

(** A unit computes what its design does, for all words. *)
Theorem words_to_words ct d u : unit_ok ct d u = true -> Forall (holds ct) (unit_claims ct d u) ->
  forall v, solution ct v -> v (root u) = compute d (words_in u v).
Proof. intros. eapply unit_sound; eauto. Qed.

(** The same with the claims as they were certified. *)
Theorem certified_words_to_words ct d u certified : unit_ok ct d u = true -> claims_eqb (unit_claims ct d u) certified = true ->
  Forall (holds ct) certified -> forall v, solution ct v -> v (root u) = compute d (words_in u v).
Proof. intros OK E. rewrite <- (claims_are _ _ E). now apply words_to_words. Qed.
