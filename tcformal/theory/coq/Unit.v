(** A unit from words to words: a chain of fused sums of products, and what its circuit computes. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals FMapPositive.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Fused Leaves.
Import ListNotations.
Open Scope Z_scope.

(** * Designs that are a chain of fused sums of exact products *)

Definition keeps (r : flush_rule) : bool := match r with Kept => true | _ => false end.
Definition no {A} (o : option A) : bool := match o with None => true | Some _ => false end.

Definition fused_chain (d : design) : option sum :=
  let q := factors d in
  if keeps (of_a q) && keeps (of_b q) && negb (normalise_factors q) && (exponent_step q =? 1) && no (zero_terms q) && negb (odd_negated q) &&
     no (product_limit q) && no (product_rounding q) && no (converted d) && no (composed d) && negb (Design.odd_first d) && negb (skips d) &&
     keeps (c_rule d) && match cutting_of d with Whole => true | _ => false end && match nans d with OneWord => true | _ => false end
  then match sums d with OneSum (Stage s) => Some s | _ => None end
  else None.

(** A product with the scales that act on it. *)
Definition term_of (d : design) (x : element) : val :=
  fold_left product (scaled_by x) (product (decode (a_format d) (a_word x)) (decode (b_format d) (b_word x))).

Definition nan_known (d : design) (st : val * Z) : Prop := Design.is_nan (fst st) = true -> snd st = Design.nan_word d.

Section Chain.
Variables (d : design) (s : sum).
Hypothesis D : fused_chain d = Some s.

Lemma chain_parts : (of_a (factors d) = Kept /\ of_b (factors d) = Kept /\ normalise_factors (factors d) = false /\ exponent_step (factors d) = 1 /\
  zero_terms (factors d) = None /\ odd_negated (factors d) = false /\ product_limit (factors d) = None /\ product_rounding (factors d) = None) /\
  (converted d = None /\ composed d = None /\ Design.odd_first d = false /\ skips d = false /\ c_rule d = Kept /\ cutting_of d = Whole /\ nans d = OneWord /\
  sums d = OneSum (Stage s)).
Proof.
  unfold fused_chain in D. destruct (_ && _) eqn:Q in D; [|easy]. rewrite !andb_true_iff in Q.
  destruct Q as [[[[[[[[[[[[[[A B] C] E] F] G] H] I] J] K] L] M] N] O] P].
  destruct (of_a (factors d)); try easy. destruct (of_b (factors d)); try easy. destruct (zero_terms (factors d)); try easy. destruct (product_limit (factors d)); try easy.
  destruct (product_rounding (factors d)); try easy. destruct (converted d); try easy. destruct (composed d); try easy. destruct (c_rule d); try easy.
  destruct (cutting_of d); try easy. destruct (nans d); try easy. apply negb_true_iff in C, G. apply Z.eqb_eq in E.
  apply negb_true_iff in L, M. destruct (sums d) as [[]|?|?|?|?|?|?|?|?]; try easy. inversion D. subst. repeat split; auto.
Qed.

Lemma flush_kept v : flush Kept v = v.
Proof. destruct v as [x| |]; simpl; auto. now destruct (is_subnormal x). Qed.

Lemma zero_as_none one v : zero_as None one v = v.
Proof. now destruct v. Qed.

Lemma scaled_plain x : scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x) = term_of d x.
Proof.
  destruct chain_parts as [[A [B [C [E [F [G [H I]]]]]]] [K _]]. unfold scaled_product, a_of, b_of, Design.factor, Design.operand, term_of.
  rewrite A, B, C, E, F, G, H, I, K, !flush_kept, zero_as_none. cbn [andb]. change (1 =? 1) with true. cbv iota. now destruct (fold_left product _ _).
Qed.

Lemma block_step_plain v n b : exists n', block_step d (v, n) b = (sum_values s (map (term_of d) b ++ [v]), n') /\
  nan_known d (sum_values s (map (term_of d) b ++ [v]), n').
Proof.
  destruct chain_parts as [[A [B [C [E [F [G [H I]]]]]]] [K [L [M [N [O [P [Q R]]]]]]]].
  unfold block_step. rewrite N, M, O, P || rewrite N, M, O. cbn [andb]. rewrite F, flush_kept, zero_as_none. unfold terms. rewrite P.
  rewrite R. cbn [block_sum add_from add]. rewrite (map_ext _ _ scaled_plain). eexists. split; [reflexivity|].
  unfold nan_known; cbn [fst snd]. intros W. rewrite W. cbn [negb]. now rewrite Q.
Qed.

Lemma blocks_plain bs : forall v n, (bs <> [] \/ nan_known d (v, n)) -> exists n', fold_left (block_step d) bs (v, n) = (chain s (map (map (term_of d)) bs) v, n') /\
  nan_known d (chain s (map (map (term_of d)) bs) v, n').
Proof.
  induction bs as [|b bs IH]; intros v n H; cbn [fold_left map chain].
  - exists n. split; auto. now destruct H.
  - destruct (block_step_plain v n b) as [n1 [E K]]. rewrite E. unfold chain. cbn [fold_left]. apply IH. now right.
Qed.

Lemma cut_list_map {A B} (g : A -> B) fuel k l : map (map g) (cut_list fuel k l) = cut_list fuel k (map g l).
Proof. revert l. induction fuel; intros l; simpl; auto. destruct l; simpl; auto. change (g a :: map g l) with (map g (a :: l)). now rewrite firstn_map, skipn_map, IHfuel. Qed.

Theorem compute_chain w : pairs w <> [] ->
  compute d w = encode (d_format d) (Design.nan_word d)
    (chain s (cut_list (length (elements d w)) (block d) (map (term_of d) (elements d w))) (decode (c_format d) (c_word w))).
Proof.
  intros NE. destruct chain_parts as [_ [_ [L [_ [_ [_ [_ [Q _]]]]]]]]. unfold compute. rewrite L. unfold blocks, start_of. rewrite Q.
  destruct (blocks_plain (cut_list (length (elements d w)) (block d) (elements d w)) (decode (c_format d) (c_word w)) (c_word w)) as [n' [E K]].
  { left. unfold elements. rewrite map_length. destruct (pairs w) as [|ab r]; [easy|]. now destruct ab. }
  rewrite E, cut_list_map. unfold nan_known in K. cbn [fst snd] in K. rewrite cut_list_map in K. clear E. revert K.
  generalize (chain s (cut_list (length (elements d w)) (block d) (map (term_of d) (elements d w))) (decode (c_format d) (c_word w))). intros r K.
  now destruct r; auto.
Qed.
End Chain.

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

(** * The plan of a unit *)

Record unit_plan := UnitPlan {
  a_nodes : list positive; b_nodes : list positive; c_input : positive;
  scale_nodes : list (positive * positive);
  leaves : list (list (option positive) * number);    (** of each product: nodes of its factors' significands, its number *)
  c_number : number; c_significand : option positive;
  sums_of : list fused;
  root : positive
}.

Section Plan.
Variables (ct : circuit) (d : design) (s : sum) (f : Z) (u : unit_plan).
Let m := widths_of ct.

Definition words_in (v : env) : words :=
  {| pairs := combine (map v (a_nodes u)) (map v (b_nodes u)); c_word := v (c_input u);
     scale_words := map (fun ab => (v (fst ab), v (snd ab))) (scale_nodes u) |}.

(** The factors of the product of [k]. *)
Definition factors_at (k : nat) (sigs : list (option positive)) : factor * list factor :=
  let at_place i := nth i sigs None in
  (Factor (nth k (a_nodes u) 1%positive) (a_format d) (at_place 0%nat),
   Factor (nth k (b_nodes u) 1%positive) (b_format d) (at_place 1%nat) ::
   match scales d with
   | None => []
   | Some (g, n) => let '(sa, sb) := nth (k / n)%nat (scale_nodes u) (1, 1)%positive in [Factor sa g (at_place 2%nat); Factor sb g (at_place 3%nat)]
   end).

Definition numbered_leaves := combine (seq 0 (length (leaves u))) (leaves u).
Definition all_leaf_claims : list claim :=
  flat_map (fun kl => let '(x, l) := factors_at (fst kl) (fst (snd kl)) in leaf_claims x l (snd (snd kl))) numbered_leaves.
Definition c_factor : factor := Factor (c_input u) (c_format d) (c_significand u).

Definition last_sum : fused := List.last (sums_of u) (Fused [] 1 0 0 (Leaf 1 0) 1 1 1 1 (c_number u)).

Definition unit_claims : list claim :=
  all_leaf_claims ++ leaf_claims c_factor [] (c_number u) ++ flat_map (fused_claims m s f) (sums_of u) ++
  word_claims (d_format d) (Design.nan_word d) (outcome last_sum) (usual s last_sum) (root u).

Definition number_eqb (x y : number) : bool :=
  (sign x =? sign y)%positive && (significand x =? significand y)%positive && (code x =? code y)%positive && (low x =? low y) &&
  (bits_below x =? bits_below y) && (nan x =? nan y)%positive && (inf x =? inf y)%positive.

Fixpoint numbers_eqb (l r : list number) : bool :=
  match l, r with [], [] => true | x :: l, y :: r => number_eqb x y && numbers_eqb l r | _, _ => false end.

Definition in_circuit (names : PositiveMap.t Z) (i : positive) : bool := PositiveMap.mem i names.

Fixpoint sums_ok (chunks : list (list number)) (before : number) (l : list fused) : bool :=
  match chunks, l with
  | [], [] => true
  | ns :: chunks, x :: l =>
      numbers_eqb (numbers_of x) (ns ++ [before]) && fused_ok m s f x && forallb (in_circuit m) (fused_nodes x) && sums_ok chunks (outcome x) l
  | _, _ => false
  end.

Definition unit_ok : bool :=
  circuit_ok ct &&
  match leaves u with [] => false | _ => true end &&
  (length (a_nodes u) =? length (leaves u))%nat && (length (b_nodes u) =? length (leaves u))%nat &&
  forallb (in_circuit m) (a_nodes u ++ b_nodes u ++ [c_input u] ++ flat_map (fun ab => [fst ab; snd ab]) (scale_nodes u)) &&
  match scales d with
  | None => true
  | Some (_, n) => forallb (fun k => (k / n <? length (scale_nodes u))%nat) (seq 0 (length (leaves u))) && (1 <=? n)%nat
  end &&
  forallb (fun kl => let '(x, l) := factors_at (fst kl) (fst (snd kl)) in leaf_ok m x l (snd (snd kl))) numbered_leaves &&
  leaf_ok m c_factor [] (c_number u) &&
  sums_ok (cut_list (length (leaves u)) (block d) (map snd (leaves u))) (c_number u) (sums_of u) &&
  match sums_of u with [] => false | _ => true end &&
  (bits_below (outcome last_sum) <=? fbits (d_format d)).

(** ** The claims are enough *)

Lemma number_eq x y : number_eqb x y = true -> x = y.
Proof.
  unfold number_eqb. rewrite !andb_true_iff, !Pos.eqb_eq, !Z.eqb_eq. destruct x, y; cbn. intros [[[[[[A B] C] D] E] F] G]. now subst.
Qed.
Lemma numbers_eq l : forall r, numbers_eqb l r = true -> l = r.
Proof. induction l as [|x l IH]; destruct r as [|y r]; simpl; try easy. rewrite andb_true_iff. intros [A B]. f_equal; [now apply number_eq|now apply IH]. Qed.

Section Run.
Variable v : env.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.

Lemma in_map_fits i : in_circuit m i = true -> fits m v i.
Proof.
  unfold in_circuit. intros H. apply (solution_fits ct v CIRC SOL). clear -H.
  assert (G : forall c k, PositiveMap.mem i (fold_left (fun a n => PositiveMap.add (name n) (width n) a) c k) = true -> In i (map name c) \/ PositiveMap.mem i k = true).
  { induction c as [|n c IH]; intros k M; cbn [fold_left map] in *; auto. destruct (IH _ M) as [J|J]; [left; now right|].
    destruct (Pos.eq_dec i (name n)) as [->|N]; [left; now left|]. right. rewrite PositiveMap.mem_find in *. now rewrite PositiveMap.gso in J. }
  destruct (G ct (PositiveMap.empty Z) H) as [J|J]; auto. rewrite PositiveMap.mem_find, PositiveMap.gempty in J. easy.
Qed.

Lemma sums_sound l : forall chunks before w, Forall (holds ct) (flat_map (fused_claims m s f) l) -> sums_ok chunks before l = true -> same_val w (val_in v before) ->
  same_val (chain s (map (map (val_in v)) chunks) w) (val_in v (match l with [] => before | _ => outcome (List.last l (Fused [] 1 0 0 (Leaf 1 0) 1 1 1 1 before)) end)).
Proof.
  induction l as [|x l IH]; intros chunks before w CL OK W; destruct chunks as [|ns chunks]; cbn [sums_ok] in OK; try easy.
  rewrite !andb_true_iff in OK. destruct OK as [[[N O] F] R]. apply numbers_eq in N. cbn [flat_map] in CL. rewrite Forall_app in CL. destruct CL as [C1 C2].
  assert (NO : forall i, In i (fused_nodes x) -> fits m v i) by (intros i I; apply in_map_fits; rewrite forallb_forall in F; now apply F).
  pose proof (fused_sound ct s f x v O C1 SOL NO) as S.
  destruct (ok_parts ct s f x O) as [Fb [_ [_ [Nm _]]]].
  assert (E : sum_values s (map (val_in v) ns ++ [w]) = sum_values s (map (val_in v) (numbers_of x))).
  { rewrite N, map_app. cbn [map]. apply (same_values s f); auto. apply Forall2_app; [|now constructor]. clear. induction ns; simpl; constructor; auto. apply same_refl. }
  unfold chain. cbn [map fold_left]. rewrite E. fold (chain s (map (map (val_in v)) chunks) (sum_values s (map (val_in v) (numbers_of x)))).
  pose proof (IH chunks (outcome x) _ C2 R S) as G. destruct l as [|y l]; auto.
  replace (List.last (x :: y :: l) (Fused [] 1 0 0 (Leaf 1 0) 1 1 1 1 before)) with (List.last (y :: l) (Fused [] 1 0 0 (Leaf 1 0) 1 1 1 1 (outcome x))); auto.
  clear. revert y. induction l as [|z l IH]; intros y; auto. cbn [List.last]. cbn [List.last] in IH. apply IH.
Qed.
End Run.
End Plan.

Section Sound.
Variables (ct : circuit) (d : design) (s : sum) (f : Z) (u : unit_plan).
Let m := widths_of ct.
Hypothesis D : fused_chain d = Some s.
Hypothesis OK : unit_ok ct d s f u = true.
Hypothesis CL : Forall (holds ct) (unit_claims ct d s f u).
Variable v : env.
Hypothesis SOL : solution ct v.

Lemma unit_parts : circuit_ok ct = true /\ leaves u <> [] /\ length (a_nodes u) = length (leaves u) /\ length (b_nodes u) = length (leaves u) /\
  (forall i, In i (a_nodes u ++ b_nodes u ++ [c_input u] ++ flat_map (fun ab => [fst ab; snd ab]) (scale_nodes u)) -> fits m v i) /\
  match scales d with None => True | Some (_, n) => forall k, (k < length (leaves u))%nat -> (k / n < length (scale_nodes u))%nat end /\
  (forall kl, In kl (numbered_leaves u) -> let '(x, l) := factors_at d u (fst kl) (fst (snd kl)) in leaf_ok m x l (snd (snd kl)) = true) /\
  leaf_ok m (c_factor d u) [] (c_number u) = true /\
  sums_ok ct s f (cut_list (length (leaves u)) (block d) (map snd (leaves u))) (c_number u) (sums_of u) = true /\ sums_of u <> [] /\
  bits_below (outcome (last_sum u)) <= fbits (d_format d).
Proof.
  unfold unit_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[A B] C] E] F] G] H] I] J] K] L].
  apply Nat.eqb_eq in C, E. apply Z.leb_le in L. rewrite forallb_forall in F, H.
  assert (FF : forall i, In i (a_nodes u ++ b_nodes u ++ [c_input u] ++ flat_map (fun ab => [fst ab; snd ab]) (scale_nodes u)) -> fits m v i).
  { intros i Hi. apply (in_map_fits ct v SOL A). now apply F. }
  split; [exact A|]. split; [intros Q; now rewrite Q in B|]. split; [exact C|]. split; [exact E|]. split; [exact FF|]. split.
  { destruct (scales d) as [[g n]|]; auto. apply andb_prop in G. destruct G as [G _]. rewrite forallb_forall in G. intros k Hk. apply Nat.ltb_lt. apply G. apply in_seq. lia. }
  split. { intros kl Hk. specialize (H kl Hk). destruct (factors_at _ _ _ _). exact H. }
  split; [exact I|]. split; [exact J|]. split; [intros Q; now rewrite Q in K|exact L].
Qed.

Lemma leaf_value k l : In (k, l) (numbered_leaves u) ->
  term_of d (nth k (elements d (words_in u v)) {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |}) = val_in v (snd l).
Proof.
  intros I. destruct unit_parts as [CI [NE [LA [LB [FI [SC [LO _]]]]]]].
  assert (K : (k < length (leaves u))%nat). { unfold numbered_leaves in I. apply in_combine_l in I. apply in_seq in I. lia. }
  specialize (LO _ I). cbn [fst snd] in LO. unfold factors_at in LO.
  set (x := Factor (nth k (a_nodes u) 1%positive) (a_format d) (nth 0 (fst l) None)) in *.
  set (tl := Factor (nth k (b_nodes u) 1%positive) (b_format d) (nth 1 (fst l) None) :: match scales d with None => [] | Some (g, n) => let '(sa, sb) := nth (k / n)%nat (scale_nodes u) (1, 1)%positive in [Factor sa g (nth 2 (fst l) None); Factor sb g (nth 3 (fst l) None)] end) in *.
  assert (AN : In (nth k (a_nodes u) 1%positive) (a_nodes u)) by (apply nth_In; lia). assert (BN : In (nth k (b_nodes u) 1%positive) (b_nodes u)) by (apply nth_In; lia).
  assert (S : fold_left (fun w y => product w (decode (format_of y) (v (word y)))) tl (decode (format_of x) (v (word x))) = val_in v (snd l)).
  { apply (leaf_sound ct x tl (snd l) v LO).
    - unfold unit_claims in CL. rewrite Forall_app in CL. destruct CL as [C1 _]. unfold all_leaf_claims in C1. rewrite Forall_flat_map in C1. rewrite Forall_forall in C1.
      specialize (C1 _ I). exact C1.
    - exact SOL.
    - intros y [<-|Y]; [apply FI; apply in_or_app; now left|]. unfold tl in Y. destruct Y as [<-|Y]. { apply FI. apply in_or_app; right; apply in_or_app; now left. }
      destruct (scales d) as [[g n]|]; [|easy]. specialize (SC k K).
      destruct (nth (k / n) (scale_nodes u) (1, 1)%positive) as [sa sb] eqn:Q.
      assert (J : In (sa, sb) (scale_nodes u)) by (rewrite <- Q; now apply nth_In).
      apply FI. do 3 (apply in_or_app; right). apply in_flat_map. exists (sa, sb). split; auto. destruct Y as [<-|[<-|[]]]; cbn; auto. }
  rewrite <- S. unfold term_of, elements.
  assert (NU : forall {A} (l : list A) j, numbered j l = combine (seq j (length l)) l) by (clear; intros A l; induction l; intros j; simpl; auto; now rewrite IHl).
  rewrite NU. set (g := fun kx : nat * (Z * Z) => _).
  assert (P : nth k (map g (combine (seq 0 (length (pairs (words_in u v)))) (pairs (words_in u v)))) {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |} =
     g (k, (v (nth k (a_nodes u) 1%positive), v (nth k (b_nodes u) 1%positive)))).
  { assert (LP : length (pairs (words_in u v)) = length (leaves u)) by (cbn [words_in pairs]; rewrite combine_length, !map_length; lia).
    rewrite (nth_indep _ _ (g (0%nat, (v 1%positive, v 1%positive)))) by (rewrite map_length, combine_length, seq_length; lia).
    rewrite map_nth. f_equal. rewrite combine_nth by (now rewrite seq_length). rewrite seq_nth by lia. cbn [Nat.add]. f_equal.
    cbn [words_in pairs]. rewrite (combine_nth (map v (a_nodes u)) (map v (b_nodes u)) k (v 1%positive) (v 1%positive)) by (rewrite !map_length; lia). now rewrite (map_nth v (a_nodes u)), (map_nth v (b_nodes u)). }
  rewrite P. unfold g; cbn [a_word b_word scaled_by]. unfold tl, x. cbn [fold_left word format_of].
  destruct (scales d) as [[h n]|]; [|reflexivity]. specialize (SC k K). cbn [words_in scale_words].
  destruct (nth (k / n) (scale_nodes u) (1, 1)%positive) as [sa sb] eqn:Q.
  assert (W : nth (k / n) (map (fun ab => (v (fst ab), v (snd ab))) (scale_nodes u)) (0, 0) = (v sa, v sb)).
  { pose proof (map_nth (fun ab : positive * positive => (v (fst ab), v (snd ab))) (scale_nodes u) (1, 1)%positive (k / n)) as MN. rewrite Q in MN. cbn [fst snd] in MN.
    rewrite (nth_indep _ (0, 0) (v 1%positive, v 1%positive)) by (now rewrite map_length). exact MN. }
  rewrite W. reflexivity.
Qed.

Lemma terms_are : map (term_of d) (elements d (words_in u v)) = map (fun l => val_in v (snd l)) (leaves u).
Proof.
  destruct unit_parts as [_ [_ [LA [LB _]]]].
  assert (LE : length (elements d (words_in u v)) = length (leaves u)).
  { unfold elements. rewrite map_length. assert (NU : forall {A} (l : list A) j, length (numbered j l) = length l) by (clear; intros A l; induction l; intros j; simpl; auto).
    rewrite NU. cbn [words_in pairs]. rewrite combine_length, !map_length. lia. }
  apply nth_ext with (d := term_of d {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |}) (d' := val_in v (c_number u)).
  - now rewrite !map_length.
  - intros k K. rewrite map_length in K. rewrite map_nth.
    change (val_in v (c_number u)) with ((fun l : list (option positive) * number => val_in v (snd l)) ([], c_number u)). rewrite (map_nth (fun l => val_in v (snd l)) (leaves u) ([], c_number u)). apply leaf_value.
    unfold numbered_leaves. replace (k, nth k (leaves u) ([], c_number u)) with (nth k (combine (seq 0 (length (leaves u))) (leaves u)) (0%nat, ([], c_number u))).
    + apply nth_In. rewrite combine_length, seq_length. lia.
    + rewrite combine_nth by (now rewrite seq_length). rewrite seq_nth by lia. reflexivity.
Qed.

Theorem unit_sound : v (root u) = compute d (words_in u v).
Proof.
  destruct unit_parts as [CI [NE [LA [LB [FI [SC [LO [CO [SO [NS BB]]]]]]]]]].
  rewrite (compute_chain d s D).
  2: { cbn [words_in pairs]. destruct (a_nodes u) as [|a r] eqn:Qa, (b_nodes u) as [|b t] eqn:Qb, (leaves u); simpl in *; easy. }
  rewrite terms_are.
  assert (LE : length (elements d (words_in u v)) = length (leaves u)). { rewrite <- (map_length (term_of d)), terms_are. apply map_length. }
  rewrite LE. assert (MC : map (fun l => val_in v (snd l)) (leaves u) = map (val_in v) (map snd (leaves u))) by (now rewrite map_map). rewrite MC, <- cut_list_map.
  unfold unit_claims in CL. rewrite !Forall_app in CL. destruct CL as [_ [C2 [C3 C4]]].
  assert (CV : decode (c_format d) (c_word (words_in u v)) = val_in v (c_number u)).
  { apply (leaf_sound ct (c_factor d u) [] (c_number u) v CO C2 SOL). intros y [<-|[]]. apply FI. do 2 (apply in_or_app; right). apply in_or_app. left. now left. }
  pose proof (sums_sound ct s f v SOL CI (sums_of u) _ (c_number u) (decode (c_format d) (c_word (words_in u v))) C3 SO ltac:(rewrite CV; apply same_refl)) as S.
  rewrite (encode_same _ _ _ _ S). clear S.
  assert (LS : match sums_of u with [] => c_number u | _ => outcome (List.last (sums_of u) (Fused [] 1 0 0 (Leaf 1 0) 1 1 1 1 (c_number u))) end = outcome (last_sum u)).
  { unfold last_sum. now destruct (sums_of u). }
  rewrite LS. apply (word_sound ct (d_format d) (Design.nan_word d) (outcome (last_sum u)) (usual s (last_sum u)) (root u) v BB C4 SOL).
  intros N I. assert (IL : In (last_sum u) (sums_of u)) by (unfold last_sum; destruct (exists_last NS) as [l [x Q]]; rewrite Q, last_last; apply in_or_app; right; now left).
  assert (LOK : fused_ok m s f (last_sum u) = true /\ forall i, In i (fused_nodes (last_sum u)) -> fits m v i).
  { revert SO IL. generalize (cut_list (length (leaves u)) (block d) (map snd (leaves u))). generalize (c_number u). generalize (last_sum u). intros x. generalize (sums_of u). clear -SOL CI. 
    induction l as [|y l IH]; intros before chunks SO [].
    - destruct chunks; cbn [sums_ok] in SO; [easy|]. rewrite !andb_true_iff in SO. destruct SO as [[[_ O] F] _]. subst y. split; auto.
      intros i I. apply (in_map_fits ct v SOL CI). rewrite forallb_forall in F. now apply F.
    - destruct chunks; cbn [sums_ok] in SO; [easy|]. rewrite !andb_true_iff in SO. destruct SO as [_ R]. eapply IH; eauto. }
  destruct LOK as [LO1 LO2].
  assert (LC : Forall (holds ct) (fused_claims m s f (last_sum u))) by (rewrite Forall_flat_map in C3; rewrite Forall_forall in C3; exact (C3 _ IL)).
  apply (usual_true ct s f (last_sum u) v LO1 LC SOL LO2 N).
  (* no infinity among the terms *)
  destruct (truth (widths_of ct) v (is_inf (last_sum u))) eqn:Q; auto. exfalso.
  assert (H : forall k q, nth_error (outcome_claims s (last_sum u)) k = Some q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true)
    by (intros k q Nq Gq; exact (outcome_nth ct s f (last_sum u) v LC SOL k q Nq Gq)).
  pose proof (H 0%nat _ eq_refl eq_refl) as H0. cbn [goal] in H0. rewrite truth_iff in H0. apply eqb_prop in H0. cbn [truth] in H0. rewrite N in H0.
  pose proof (H 1%nat _ eq_refl) as H1. cbn [given forallb goal truth] in H1. unfold m in H1, H0. rewrite <- H0, Q in H1. specialize (H1 eq_refl). apply andb_prop in H1. destruct H1 as [H1 _]. congruence.
Qed.
End Sound.

(** A unit computes what its design does, for all words. *)
Theorem words_to_words ct d s f u : fused_chain d = Some s -> unit_ok ct d s f u = true -> Forall (holds ct) (unit_claims ct d s f u) ->
  forall v, solution ct v -> v (root u) = compute d (words_in u v).
Proof. intros. eapply unit_sound; eauto. Qed.
