(** A unit from words to words: what its circuit computes, from the claims about its stages. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals FMapPositive.
From TC Require Import Spec Theorems Design Rounded ExactStage Bv Circuit Finish Fused Leaves Stage.
Import ListNotations.
Open Scope Z_scope.

Definition none_of {A} (o : option A) : bool := match o with None => true | Some _ => false end.

(** * Summations as trees *)

Definition chain_tree (s : stage) (x : steps) (ts : list steps) : steps := fold_left (fun x t => Step s [x; t]) ts x.
Fixpoint chain_with_last (s last : stage) (x : steps) (ts : list steps) : steps :=
  match ts with [] => x | [t] => Step last [x; t] | t :: r => chain_with_last s last (Step s [x; t]) r end.
Fixpoint pair_trees (s : stage) (l : list steps) : list steps :=
  match l with a :: b :: r => Step s [a; b] :: pair_trees s r | _ => l end.
Fixpoint pairwise_tree (fuel : nat) (s : stage) (l : list steps) : steps :=
  match fuel, l with
  | _, [v] => v
  | S k, _ => pairwise_tree k s (pair_trees s l)
  | O, _ => Step s l
  end.
Definition two_chains_tree (s : stage) (l : list steps) : steps :=
  Step s [chain_tree s PlusZero (evens l); chain_tree s PlusZero (odds l)].

Definition product_steps (k : nat) : list steps := map Product (seq 0 k).

(** The sum of [k] products and c of a block; [None] for one that is no tree. *)
Definition tree_for (how : summation) (k : nat) : option steps :=
  let l := product_steps k in
  match how with
  | OneSum s => Some (Step s (l ++ [C]))
  | FromC s last => Some (chain_with_last s last C l)
  | CLast Together s last => Some (Step last [Step s l; C])
  | CLast Chain s last => match l with x :: r => Some (Step last [chain_tree s x r; C]) | [] => None end
  | CLast Pairwise s last => Some (Step last [pairwise_tree k s l; C])
  | CLast TwoChains s last => if (2 <=? k)%nat then Some (Step last [two_chains_tree s l; C]) else None
  | CLast PairChains s last => if (4 <=? k)%nat then Some (Step last [two_chains_tree s (pair_trees s l); C]) else None
  | InSteps t => Some t
  | _ => None
  end.

(** What a partial sum that is subnormal counts as. *)
Definition inner_rule (how : summation) (r : flush_rule) : flush_rule := match how with InSteps _ => r | _ => Kept end.

Section Trees.
Variables (ps : list val) (c : val).
Let ev := eval_steps Kept ps c.
Let at_ := term_value Kept ps c.

Lemma ev_step s l : ev (Step s l) = add s (map (at_ s) l).
Proof. reflexivity. Qed.
Lemma at_step s s' l : at_ s (Step s' l) = add s' (map (at_ s') l).
Proof. unfold at_, term_value. rewrite flush_kept_. reflexivity. Qed.

Lemma products_at s : map (at_ s) (product_steps (length ps)) = ps.
Proof.
  unfold product_steps. rewrite map_map. unfold at_, term_value. cbn [eval_steps].
  apply nth_ext with (d := NaN) (d' := NaN). now rewrite map_length, seq_length. intros k K. rewrite map_length, seq_length in K.
  rewrite (nth_indep _ NaN ((fun x => nth x ps NaN) 0%nat)) by (now rewrite map_length, seq_length). rewrite (map_nth (fun x => nth x ps NaN)), seq_nth by auto. reflexivity.
Qed.

Lemma chain_at s x ts : at_ s (chain_tree s x ts) = fold_left (fun w t => add s [w; t]) (map (at_ s) ts) (at_ s x).
Proof. revert x. induction ts as [|t ts IH]; intros x; auto. cbn [chain_tree fold_left map]. unfold chain_tree in IH. rewrite IH, at_step. reflexivity. Qed.

Lemma last_cons {A} (y : A) z e : z <> [] -> List.last (y :: z) e = List.last z e.
Proof. now destruct z. Qed.
Lemma results_some s l x t r : chain_results s l x (t :: r) <> [].
Proof. now destruct r. Qed.

Lemma from_c s l ks : forall x e, x <> PlusZero -> ks <> [] ->
  at_ s (chain_with_last s l x (map Product ks)) = List.last (chain_results s l (at_ s x) (map (fun k => nth k ps NaN) ks)) e.
Proof.
  induction ks as [|k ks IH]; intros x e X N; [easy|]. destruct ks as [|k' ks].
  - cbn [map chain_with_last chain_results List.last]. rewrite at_step. cbn [map]. f_equal. f_equal. unfold at_, term_value. now destruct x.
  - change (chain_with_last s l x (map Product (k :: k' :: ks))) with (chain_with_last s l (Step s [x; Product k]) (map Product (k' :: ks))).
    rewrite (IH (Step s [x; Product k]) e) by easy. rewrite at_step. cbn [map].
    change (chain_results s l (at_ s x) (nth k ps NaN :: nth k' ps NaN :: map (fun k => nth k ps NaN) ks)) with
      (add s [at_ s x; nth k ps NaN] :: chain_results s l (add s [at_ s x; nth k ps NaN]) (nth k' ps NaN :: map (fun k => nth k ps NaN) ks)).
    rewrite last_cons by apply results_some. reflexivity.
Qed.

Lemma pairs_at s l : map (at_ s) (pair_trees s l) = add_pairs s (map (at_ s) l).
Proof.
  assert (G : forall n l, (length l <= n)%nat -> map (at_ s) (pair_trees s l) = add_pairs s (map (at_ s) l)).
  { induction n as [|n IH]; intros k L; [now destruct k|]. destruct k as [|a [|b k]]; auto. cbn [pair_trees map add_pairs]. rewrite at_step. cbn [map]. f_equal. apply IH. simpl in L. lia. }
  apply (G (length l)). lia.
Qed.

Lemma pairwise_at s fuel : forall l, at_ s (pairwise_tree fuel s l) = pairwise fuel s (map (at_ s) l).
Proof.
  induction fuel as [|n IH]; intros l.
  - destruct l as [|a [|b l]]; cbn [pairwise_tree pairwise map]; auto; rewrite at_step; reflexivity.
  - destruct l as [|a [|b l]]; cbn [pairwise_tree pairwise]; auto; rewrite IH, pairs_at; reflexivity.
Qed.

Lemma every_second_map {A B} (g : A -> B) l : map g (every_second l) = every_second (map g l).
Proof.
  assert (G : forall n l, (length l <= n)%nat -> map g (every_second l) = every_second (map g l)).
  { induction n as [|n IH]; intros k L; [now destruct k|]. destruct k as [|a [|b k]]; auto. cbn [every_second map]. f_equal. apply IH. simpl in L. lia. }
  apply (G (length l)). lia.
Qed.

Lemma two_chains_at s s' l : at_ s' (two_chains_tree s l) = two_chains s (map (at_ s) l).
Proof.
  unfold two_chains_tree, two_chains. rewrite at_step. cbn [map]. rewrite !chain_at. unfold chain_of, evens, odds. rewrite !every_second_map.
  assert (T : map (at_ s) (tl l) = tl (map (at_ s) l)) by (now destruct l). rewrite T. reflexivity.
Qed.

(** A tree that is no +0 is the same term of every stage. *)
Lemma at_any s s' t : t <> PlusZero -> at_ s t = at_ s' t.
Proof. unfold at_, term_value. now destruct t. Qed.

Lemma pairwise_some fuel s : forall l, (forall t, In t l -> t <> PlusZero) -> l <> [] -> pairwise_tree fuel s l <> PlusZero.
Proof.
  induction fuel as [|n IH]; intros l H N; destruct l as [|a [|b l]]; cbn [pairwise_tree]; try easy; try (apply H; now left).
  apply IH; [|easy]. intros t. cbn [pair_trees].
  assert (G : forall n l, (length l <= n)%nat -> (forall t, In t l -> t <> PlusZero) -> forall t, In t (pair_trees s l) -> t <> PlusZero).
  { clear. induction n as [|n IH]; intros k L H t; [now destruct k|]. destruct k as [|a [|b k]]; cbn [pair_trees In]; auto. intros [<-|I]; [easy|]. apply (IH k); auto. simpl in L. lia. intros u U. apply H. right; now right. }
  intros [<-|I]; [easy|]. apply (G (length l) l); auto. intros u U. apply H. right; now right.
Qed.
Lemma products_some k t : In t (product_steps k) -> t <> PlusZero.
Proof. unfold product_steps. rewrite in_map_iff. now intros [n [<- _]]. Qed.
Lemma chain_some s ts : forall x, x <> PlusZero -> chain_tree s x ts <> PlusZero.
Proof. induction ts as [|t ts IH]; intros x X; auto. cbn [chain_tree fold_left]. now apply IH. Qed.

Theorem tree_is how r t : ps <> [] -> (forall s, how <> InSteps s) -> tree_for how (length ps) = Some t -> block_sum how r None [] ps c = ev t.
Proof.
  intros NE NI H. assert (NP : product_steps (length ps) <> []) by (destruct ps; easy).
  assert (PN : forall s, map (at_ s) (product_steps (length ps)) = ps) by (intros s; apply products_at).
  assert (CA : forall s, at_ s C = c) by reflexivity.
  assert (EVS : forall t s, t <> PlusZero -> ev t = at_ s t). { intros u s U. unfold ev, at_, term_value. destruct u; try easy. now rewrite flush_kept_. }
  destruct how; cbn [tree_for] in H; try easy; try (now destruct (NI root)).
  - inversion H; subst. rewrite ev_step, map_app, PN. cbn [map]. rewrite CA. reflexivity.
  - inversion H; subst. unfold product_steps. rewrite (EVS _ step).
    + rewrite (from_c step last (seq 0 (length ps)) C c); [|easy|now destruct ps]. pose proof (PN step) as PD. unfold product_steps in PD. rewrite map_map in PD. change (map (fun k => nth k ps NaN) (seq 0 (length ps)) = ps) in PD. rewrite PD, CA. reflexivity.
    + assert (G : forall l x, x <> PlusZero -> chain_with_last step last x (map Product l) <> PlusZero).
      { clear. induction l as [|k l IH]; intros x X; [exact X|]. destruct l as [|k' l]; [easy|]. change (chain_with_last step last (Step step [x; Product k]) (map Product (k' :: l)) <> PlusZero). now apply IH. }
      now apply G.
  - destruct how; cbn [inner_sum block_sum add_from].
    + inversion H; subst. rewrite ev_step. cbn [map]. rewrite at_step, PN, CA. reflexivity.
    + destruct (product_steps (length ps)) as [|x l] eqn:Q; [easy|]. inversion H; subst. rewrite ev_step. cbn [map]. rewrite CA. cbn [block_sum inner_sum].
      pose proof (PN step) as PS. cbn [map] in PS.
      assert (X : x <> PlusZero) by (apply (products_some (length ps)); rewrite Q; now left).
      rewrite (at_any last step) by now apply chain_some. rewrite chain_at. rewrite <- PS at 1. reflexivity.
    + inversion H; subst. rewrite ev_step. cbn [map]. rewrite CA. cbn [block_sum inner_sum].
      rewrite (at_any last step) by (apply pairwise_some; [apply products_some|exact NP]). rewrite pairwise_at, PN. reflexivity.
    + destruct (_ <=? _)%nat; [|easy]. inversion H; subst. rewrite ev_step. cbn [map]. rewrite CA, two_chains_at, PN. reflexivity.
    + destruct (_ <=? _)%nat; [|easy]. inversion H; subst. rewrite ev_step. cbn [map]. rewrite CA, two_chains_at, pairs_at, PN. reflexivity.
Qed.
End Trees.

(** * Designs whose units the checker takes *)

Definition design_ok (d : design) : bool :=
  let q := factors d in
  negb (normalise_factors q) && (exponent_step q =? 1) && none_of (zero_terms q) && negb (odd_negated q || even_negated q) && none_of (product_limit q) &&
  none_of (product_rounding q) && negb (skips d) && match cutting_of d with Whole => true | _ => false end &&
  match nans d with OneWord => true | _ => false end && rule_ok (c_rule d) &&
  match converted d with None => true | Some _ => keeps_all (of_a q) && keeps_all (of_b q) && none_of (scales d) end &&
  match composed d with None => true | Some how => keeps_all (of_sum how) && keeps_all (of_c how) && regular (addition how) end.

(** A product with the scales that act on it. *)
Definition product_value (d : design) (x : element) : val := fold_left product (scaled_by x) (product (a_of d x) (b_of d x)).

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

Lemma design_parts : (normalise_factors (factors d) = false /\ exponent_step (factors d) = 1 /\ zero_terms (factors d) = None /\ (odd_negated (factors d) = false /\ even_negated (factors d) = false) /\
  product_limit (factors d) = None /\ product_rounding (factors d) = None) /\ (skips d = false /\ cutting_of d = Whole /\ nans d = OneWord /\ rule_ok (c_rule d) = true) /\
  match converted d with None => True | Some _ => of_a (factors d) = Kept /\ of_b (factors d) = Kept /\ scales d = None end /\
  match composed d with None => True | Some how => of_sum how = Kept /\ of_c how = Kept /\ regular (addition how) = true end.
Proof.
  unfold design_ok in D. cbv zeta in D. rewrite !andb_true_iff in D. destruct D as [[[[[[[[[[[A B] C0] E] F] G] H] I] J] K] L] M].
  apply negb_true_iff in A, E, H. apply orb_false_elim in E. destruct E as [E1 E2]. apply Z.eqb_eq in B. destruct (zero_terms (factors d)); try easy. destruct (product_limit (factors d)); try easy. destruct (product_rounding (factors d)); try easy.
  destruct (cutting_of d); try easy. destruct (nans d); try easy. split; [repeat split; auto|]. split; [repeat split; auto|]. split.
  - destruct (converted d); auto. rewrite !andb_true_iff in L. destruct L as [[L1 L2] L3]. destruct (of_a (factors d)), (of_b (factors d)), (scales d); easy.
  - destruct (composed d) as [how|]; auto. rewrite !andb_true_iff in M. destruct M as [[M1 M2] M3]. destruct (of_sum how), (of_c how); easy.
Qed.

Lemma zero_as_none one v : zero_as None one v = v.
Proof. now destruct v. Qed.

Lemma scaled_plain x : scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x) = product_value d x.
Proof.
  destruct design_parts as [[A [B [C0 [E [F G]]]]] _]. assert (S : subtracted (factors d) (index x) = false) by (unfold subtracted; destruct E as [-> ->]; now destruct (Z.odd _)).
  unfold scaled_product, product_value. rewrite C0, S, F, G, zero_as_none. now destruct (fold_left product _ _).
Qed.

(** The value of a block. *)
Definition block_value (ps : list val) (v : val) : val := block_sum (sums d) (c_rule d) None [] ps (flush (c_rule d) v).

Definition nan_known (st : val * Z) : Prop := Design.is_nan (fst st) = true -> snd st = Design.nan_word d.

Lemma block_step_plain v n b : whole_factors d b = [] -> exists n', block_step d (v, n) b = (block_value (in_order_of d (map (product_value d) b)) v, n') /\
  nan_known (block_value (in_order_of d (map (product_value d) b)) v, n').
Proof.
  destruct design_parts as [[A [B [C0 [E [F G]]]]] [[H [I [J K]]] _]]. intros WF. unfold block_step. rewrite H. cbn [andb]. rewrite C0, zero_as_none. unfold terms. rewrite I.
  set (b' := if Design.odd_first d then swapped b else b).
  assert (T : map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)) b' = in_order_of d (map (product_value d) b)).
  { rewrite (map_ext _ _ scaled_plain). unfold b'. rewrite <- order_map. reflexivity. }
  assert (W : whole_factors d b' = []). { unfold whole_factors in *. destruct (sums d) as [| | | | |s [|]| | |]; auto. destruct b; [|easy]. unfold b'. now destruct (Design.odd_first d). }
  rewrite W, T. eexists. split; [reflexivity|]. unfold nan_known; cbn [fst snd]. intros Q. unfold block_value in *. rewrite Q. cbn [negb]. rewrite J. now destruct (sums d).
Qed.

Definition no_halves : bool := match sums d with CAfter _ true => false | _ => true end.
Lemma no_halves_ok b : no_halves = true -> whole_factors d b = [].
Proof. unfold no_halves, whole_factors. destruct (sums d) as [| | | | |s [|]| | |]; easy. Qed.

Lemma blocks_plain (NH : no_halves = true) bs : forall v n, bs <> [] -> exists n',
  fold_left (block_step d) bs (v, n) = (fold_left (fun v ps => block_value ps v) (map (fun b => in_order_of d (map (product_value d) b)) bs) v, n') /\
  nan_known (fold_left (fun v ps => block_value ps v) (map (fun b => in_order_of d (map (product_value d) b)) bs) v, n').
Proof.
  induction bs as [|b bs IH]; intros v n H; [easy|]. cbn [fold_left map]. destruct (block_step_plain v n b (no_halves_ok b NH)) as [n1 [E K]]. rewrite E. destruct bs as [|b' bs].
  - exists n1. cbn [fold_left map]. auto.
  - now apply IH.
Qed.

(** The value before the last addition of a composition, or the whole one. *)
Definition chain_value (ps : list val) (e v : val) : val := fold_left (fun v ps => block_value ps v) (map (in_order_of d) (chunks d ps e)) v.

Definition dummy : element := {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |}.

Theorem compute_is w : no_halves = true -> chunks d (elements d w) dummy <> [] ->
  compute d w =
    let ps := map (product_value d) (elements d w) in let c := decode (c_format d) (c_word w) in
    match composed d with
    | None => encode (d_format d) (Design.nan_word d) (chain_value ps (product_value d dummy) c)
    | Some how => encode (d_format d) (addition_nan how) (sum_values (addition how) [chain_value ps (product_value d dummy) (decode (d_format d) 0); c])
    end.
Proof.
  intros NH NE. destruct design_parts as [_ [[_ [_ [J _]]] [_ M]]]. unfold compute, chain_value. rewrite <- chunks_map, map_map.
  unfold chunks in *. destruct (composed d) as [how|].
  - destruct M as [M1 [M2 _]]. rewrite M1, M2, !flush_kept_. f_equal. f_equal. f_equal.
    assert (PF : forall l st, fold_left (fun state ks => blocks d (map (fun k => nth k (elements d w) dummy) ks) state) l st =
      fold_left (block_step d) (flat_map (fun ks => cut_list (length ks) (block d) (map (fun k => nth k (elements d w) dummy) ks)) l) st).
    { induction l as [|ks l IH]; intros st; auto. cbn [fold_left flat_map]. rewrite fold_left_app, IH. unfold blocks. now rewrite map_length. }
    unfold dummy in PF. rewrite PF. destruct (blocks_plain NH _ (decode (d_format d) 0) 0 NE) as [n' [E _]]. unfold dummy in E. now rewrite E.
  - unfold blocks, start_of. rewrite J. destruct (blocks_plain NH _ (decode (c_format d) (c_word w)) (c_word w) NE) as [n' [E K]]. rewrite E.
    unfold nan_known in K. cbn [fst snd] in K. revert K. generalize (fold_left (fun v ps => block_value ps v) (map (fun b => in_order_of d (map (product_value d) b)) (cut_list (length (elements d w)) (block d) (elements d w))) (decode (c_format d) (c_word w))).
    intros r K. now destruct r; auto; cbn [encode]; rewrite K.
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
    specialize (Q7 eq_refl). apply orb_prop in Q7. assert (PK : 0 < 2 ^ k) by (apply pow2_gt; lia). assert (SP : 0 < sx) by lia.
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

(** A product: the words of its factors after a conversion, the nodes of their significands, its number. *)
Record leaf_plan := LeafPlan { wide : option (positive * positive); sigs : list (option positive); product_number : number }.

(** A block: the number that c counts as, and the sum. *)
Record block_plan := BlockPlan { c_counted : number; sum_plan : tree_plan }.

Record unit_plan := UnitPlan {
  a_nodes : list positive; b_nodes : list positive; c_input : positive; scale_nodes : list (positive * positive);
  leaves : list leaf_plan;
  c_number : number; c_significand : option positive;
  zero_number : number;                        (** of the sum that a composition starts from *)
  block_plans : list block_plan;
  adding : option (number * summed);           (** of a composition: the sum of the parts as an operand, and the last sum *)
  root : positive
}.

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
   | _, _ => [] end) ++ leaf_claims x r (product_number l).

Definition factor_words_ok (f : format) (w : positive) : bool := format_ok f && in_circuit m w && (width_in m w =? word_width f).

Definition leaf_ok_at (kl : nat * leaf_plan) : bool :=
  let '(k, l) := kl in
  let '(x, r) := factors_at k l in
  leaf_ok m x r (product_number l) && forallb (fun y => in_circuit m (word y)) (x :: r) &&
  match converted d, wide l with
  | Some g, Some (ta, tb) =>
      factor_words_ok (a_format d) (nth k (a_nodes u) 1%positive) && factor_words_ok (b_format d) (nth k (b_nodes u) 1%positive) &&
      factor_words_ok g ta && factor_words_ok g tb
  | None, None => match scales d with None => true | Some (_, n) => (k / n <? length (scale_nodes u))%nat && (1 <=? n)%nat end
  | _, _ => false
  end.

Definition numbered_leaves := combine (seq 0 (length (leaves u))) (leaves u).
Definition c_factor : factor := Factor (c_input u) (c_format d) Kept (c_significand u).

(** The sum at the root of a block's plan. *)
Definition root_sum (q : tree_plan) : option summed := match q with Sum s None _ => Some s | _ => None end.
Definition step_of (t : steps) : option sum := match t with Step (Stage s) _ => Some s | _ => None end.

Definition block_rule : flush_rule := inner_rule (sums d) (c_rule d).

Fixpoint blocks_ok (cs : list (list number)) (before : number) (l : list block_plan) : bool :=
  match cs, l with
  | [], [] => true
  | ns :: cs, x :: l =>
      match tree_for (sums d) (length ns), root_sum (sum_plan x) with
      | Some t, Some s =>
          flush_ok m (c_rule d) before (c_counted x) && tree_ok m block_rule ns (c_counted x) t (sum_plan x) && negb (length ns =? 0)%nat && blocks_ok cs (sum_result s) l
      | _, _ => false
      end
  | _, _ => false
  end.

Fixpoint blocks_claims (cs : list (list number)) (known : list formula) (before : number) (l : list block_plan) : list claim :=
  match cs, l with
  | ns :: cs, x :: l =>
      match tree_for (sums d) (length ns), root_sum (sum_plan x) with
      | Some t, Some s =>
          flush_claims known (c_rule d) before (c_counted x) ++ tree_claims m block_rule t (sum_plan x) ++
          blocks_claims cs (match step_of t with Some e => summed_usual e s | None => [] end) (sum_result s) l
      | _, _ => []
      end
  | _, _ => []
  end.

Definition chunked : list (list number) := map (in_order_of d) (chunks d (map product_number (leaves u)) (c_number u)).
Definition start_number : number := match composed d with None => c_number u | Some _ => zero_number u end.

Definition start_num : num := num_of (decode (d_format d) 0).

(** The design of the last block's sum, and the sum. *)
Fixpoint blocks_last (cs : list (list number)) (l : list block_plan) (before : option (sum * summed)) : option (sum * summed) :=
  match cs, l with
  | ns :: cs, x :: l =>
      match tree_for (sums d) (length ns), root_sum (sum_plan x) with
      | Some t, Some s => blocks_last cs l (match step_of t with Some e => Some (e, s) | None => None end)
      | _, _ => None
      end
  | _, _ => before
  end.
Definition last_block : option (sum * summed) := blocks_last chunked (block_plans u) None.
Definition last_sum : option (sum * summed) :=
  match composed d, adding u with
  | None, None => last_block
  | Some how, Some (_, s) => Some (addition how, s)
  | _, _ => None
  end.

Definition adding_claims : list claim :=
  match composed d, adding u, last_block with
  | Some how, Some (r, s), Some (e, before) =>
      known_claims start_num (zero_number u) ++ flush_claims (summed_usual e before) Kept (sum_result before) r ++ summed_claims m (addition how) s
  | _, _, _ => []
  end.

Definition final_nan : Z := match composed d with None => Design.nan_word d | Some how => addition_nan how end.

Definition unit_claims : list claim :=
  flat_map leaf_claims_at numbered_leaves ++ leaf_claims c_factor [] (c_number u) ++ blocks_claims chunked [] start_number (block_plans u) ++ adding_claims ++
  match last_sum with
  | Some (e, s) => word_claims (d_format d) final_nan (sum_result s) (summed_usual e s) (root u)
  | None => []
  end.

Definition unit_ok : bool :=
  circuit_ok ct && design_ok d && no_halves d && negb (length (leaves u) =? 0)%nat && negb (length chunked =? 0)%nat &&
  (length (a_nodes u) =? length (leaves u))%nat && (length (b_nodes u) =? length (leaves u))%nat &&
  forallb leaf_ok_at numbered_leaves && leaf_ok m c_factor [] (c_number u) && in_circuit m (c_input u) &&
  match composed d with None => true | Some how => forallb (forallb (fun k => k <? length (leaves u))%nat) (parts how) end &&
  blocks_ok chunked start_number (block_plans u) &&
  match composed d, adding u, last_block with
  | None, None, Some _ => true
  | Some how, Some (r, s), Some (_, before) =>
      summed_ok m (addition how) s && numbers_eqb (sum_operands s) [r; c_number u] && flush_ok m Kept (sum_result before) r &&
      (bits_below (zero_number u) =? frac start_num) && match decode (d_format d) 0 with Num x => 0 <=? sig x | _ => false end
  | _, _, _ => false
  end &&
  match last_sum with Some (_, s) => (bits_below (sum_result s) <=? fbits (d_format d)) | None => false end.
End Plan.

Section Sound.
Variables (ct : circuit) (d : design) (u : unit_plan).
Let m := widths_of ct.
Hypothesis OK : unit_ok ct d u = true.
Hypothesis CL : Forall (holds ct) (unit_claims ct d u).
Variable v : env.
Hypothesis SOL : solution ct v.

Lemma unit_parts : circuit_ok ct = true /\ design_ok d = true /\ no_halves d = true /\ leaves u <> [] /\ chunked d u <> [] /\
  length (a_nodes u) = length (leaves u) /\ length (b_nodes u) = length (leaves u) /\ forallb (leaf_ok_at ct d u) (numbered_leaves u) = true /\
  leaf_ok m (c_factor d u) [] (c_number u) = true /\ in_circuit m (c_input u) = true /\
  match composed d with None => True | Some how => forallb (forallb (fun k => k <? length (leaves u))%nat) (parts how) = true end /\
  blocks_ok ct d (chunked d u) (start_number d u) (block_plans u) = true /\
  match composed d, adding u, last_block d u with
  | None, None, Some _ => True
  | Some how, Some (r, s), Some (_, before) =>
      summed_ok m (addition how) s = true /\ sum_operands s = [r; c_number u] /\ flush_ok m Kept (sum_result before) r = true /\
      bits_below (zero_number u) = frac (start_num d) /\ exists x, decode (d_format d) 0 = Num x /\ 0 <= sig x
  | _, _, _ => False
  end /\
  match last_sum d u with Some (_, s) => bits_below (sum_result s) <= fbits (d_format d) | None => False end.
Proof.
  unfold unit_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[[[[A B] C0] E] F] G] H] I] J] K] L] M] N] O].
  apply negb_true_iff in E, F. apply Nat.eqb_neq in E, F. apply Nat.eqb_eq in G, H.
  split; [exact A|]. split; [exact B|]. split; [exact C0|]. split; [intros Q; now rewrite Q in E|]. split; [intros Q; now rewrite Q in F|].
  split; [exact G|]. split; [exact H|]. split; [exact I|]. split; [exact J|]. split; [exact K|]. split; [now destruct (composed d)|]. split; [exact M|]. split.
  - destruct (composed d) as [how|], (adding u) as [[r s]|], (last_block d u) as [[e b]|]; try easy. rewrite !andb_true_iff in N. destruct N as [[[[N1 N2] N3] N4] N5].
    apply numbers_eq in N2. apply Z.eqb_eq in N4. repeat split; auto. destruct (decode (d_format d) 0) eqn:Q; try easy. apply Z.leb_le in N5. eauto.
  - destruct (last_sum d u) as [[e s]|]; [now apply Z.leb_le|easy].
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

Lemma leaf_value k l : In (k, l) (numbered_leaves u) -> same_val (product_value d (nth k (elements d (words_in u v)) dummy)) (val_in v (product_number l)).
Proof.
  intros I. destruct unit_parts as [_ [DO [_ [_ [_ [LA [LB [LO _]]]]]]]]. rewrite forallb_forall in LO. specialize (LO _ I).
  assert (K : (k < length (leaves u))%nat). { unfold numbered_leaves in I. apply in_combine_l in I. apply in_seq in I. lia. }
  assert (LC : Forall (holds ct) (leaf_claims_at d u (k, l))). { unfold unit_claims in CL. rewrite Forall_app in CL. destruct CL as [C1 _]. rewrite Forall_flat_map, Forall_forall in C1. exact (C1 _ I). }
  rewrite (element_at k K). unfold product_value, a_of, b_of, Design.factor, Design.operand. cbn [scaled_by a_word b_word].
  destruct (design_parts d DO) as [[A [B _]] [_ [CV _]]]. rewrite A, B. change (1 =? 1) with true. cbv iota.
  unfold leaf_ok_at, leaf_claims_at, factors_at in *. destruct (converted d) as [g|], (wide l) as [[ta tb]|]; rewrite !andb_true_iff in LO; try (now destruct LO).
  - destruct LO as [[LO IC] [[[W1 W2] W3] W4]]. destruct CV as [Q1 [Q2 Q3]]. rewrite Q1, Q2, Q3, !flush_kept_. cbn [fold_left].
    rewrite !Forall_app in LC. destruct LC as [[LC1 LC2] LC3].
    destruct (word_fits _ _ W1) as [F1 R1], (word_fits _ _ W2) as [F2 R2], (word_fits _ _ W3) as [F3 R3], (word_fits _ _ W4) as [F4 R4].
    rewrite forallb_forall in IC.
    pose proof (leaf_sound ct _ _ _ v LO LC3 SOL (fun y Y => fits_in _ (IC y Y))) as S. cbn [fold_left] in S. unfold factor_value in S. cbn [rule format_of word] in S. rewrite !flush_kept_ in S. rewrite <- S.
    apply same_product; apply (conversion_sound ct v SOL); auto.
  - destruct LO as [[LO IC] SC]. cbn [app] in LC. rewrite forallb_forall in IC.
    pose proof (leaf_sound ct _ _ _ v LO LC SOL (fun y Y => fits_in _ (IC y Y))) as S. rewrite <- S. cbn [fold_left]. unfold factor_value at 1 2. cbn [rule format_of word].
    destruct (scales d) as [[g n]|]; cbn [fold_left]; [|apply same_refl]. rewrite andb_true_iff in SC. destruct SC as [SC _]. apply Nat.ltb_lt in SC. cbn [words_in scale_words].
    destruct (nth (k / n) (scale_nodes u) (1, 1)%positive) as [sa sb] eqn:Q.
    assert (W : nth (k / n) (map (fun ab => (v (fst ab), v (snd ab))) (scale_nodes u)) (0, 0) = (v sa, v sb)).
    { pose proof (map_nth (fun ab : positive * positive => (v (fst ab), v (snd ab))) (scale_nodes u) (1, 1)%positive (k / n)) as MN. rewrite Q in MN. cbn [fst snd] in MN.
      rewrite (nth_indep _ (0, 0) (v 1%positive, v 1%positive)) by (now rewrite map_length). exact MN. }
    rewrite W. cbn [fst snd fold_left]. unfold factor_value. cbn [rule format_of word]. rewrite !flush_kept_. apply same_refl.
Qed.

Lemma products_are : Forall2 same_val (map (product_value d) (elements d (words_in u v))) (map (val_in v) (map product_number (leaves u))).
Proof.
  pose proof elements_length as EL. assert (G : forall k, (k < length (leaves u))%nat -> same_val (product_value d (nth k (elements d (words_in u v)) dummy)) (val_in v (nth k (map product_number (leaves u)) (c_number u)))).
  { intros k K. set (e := LeafPlan None [] (c_number u)). change (c_number u) with (product_number e). rewrite map_nth. apply leaf_value. unfold numbered_leaves.
    replace (k, nth k (leaves u) e) with (nth k (combine (seq 0 (length (leaves u))) (leaves u)) (0%nat, e)).
    - apply nth_In. rewrite combine_length, seq_length. lia.
    - rewrite combine_nth by (now rewrite seq_length). rewrite seq_nth by lia. reflexivity. }
  revert EL G. generalize (elements d (words_in u v)). intros es. clear. rewrite <- (map_length product_number (leaves u)). generalize (map product_number (leaves u)). intros ns. revert es.
  induction ns as [|x ns IH]; intros es EL G; destruct es as [|e es]; try easy; [constructor|]. cbn [map]. constructor; [exact (G 0%nat ltac:(simpl; lia))|].
  apply IH; [simpl in EL; lia|]. intros k K. exact (G (S k) ltac:(simpl; lia)).
Qed.

(** ** Blocks *)

Lemma forall2_nth {A B} (R : A -> B -> Prop) l r a b k : Forall2 R l r -> (k < length r)%nat -> R (nth k l a) (nth k r b).
Proof. intros H. revert k. induction H; intros k K; [simpl in K; lia|]. destruct k; auto. cbn [nth]. apply IHForall2. simpl in K. lia. Qed.

Lemma cut_list_forall2 {A B} (R : A -> B -> Prop) fuel n l r : Forall2 R l r -> Forall2 (Forall2 R) (cut_list fuel n l) (cut_list fuel n r).
Proof.
  revert l r. induction fuel as [|k IH]; intros l r H; [constructor|]. destruct H as [|x y l r H F]; [constructor|].
  assert (G : forall n l r, Forall2 R l r -> Forall2 R (firstn n l) (firstn n r) /\ Forall2 R (skipn n l) (skipn n r)).
  { clear. induction n as [|n IH]; intros l r F; [split; auto; constructor|]. destruct F as [|x y l r H F]; [split; constructor|]. destruct (IH l r F). cbn. split; auto. }
  destruct (G n (x :: l) (y :: r) ltac:(now constructor)). cbn [cut_list]. constructor; auto.
Qed.

Lemma swapped_forall2 {A B} (R : A -> B -> Prop) l : forall r, Forall2 R l r -> Forall2 R (swapped l) (swapped r).
Proof.
  assert (G : forall n l r, (length l <= n)%nat -> Forall2 R l r -> Forall2 R (swapped l) (swapped r)).
  { induction n as [|n IH]; intros k r L F; [destruct k; [|simpl in L; lia]; inversion F; constructor|].
    destruct F as [|a b k r H F]; [constructor|]. destruct F as [|a' b' k r H' F]; [now repeat constructor|]. cbn [swapped]. do 2 (constructor; auto). apply IH; auto. simpl in L. lia. }
  intros r. now apply (G (length l)).
Qed.

Lemma chunks_forall2 {A B} (R : A -> B -> Prop) l r a b :
  match composed d with None => True | Some how => forallb (forallb (fun k => k <? length r)%nat) (parts how) = true end ->
  Forall2 R l r -> Forall2 (Forall2 R) (map (in_order_of d) (chunks d l a)) (map (in_order_of d) (chunks d r b)).
Proof.
  intros K H. assert (G : Forall2 (Forall2 R) (chunks d l a) (chunks d r b)).
  { unfold chunks. assert (LE : length l = length r) by (clear -H; induction H; simpl; auto). destruct (composed d) as [how|]; [|rewrite LE; now apply cut_list_forall2].
    induction (parts how) as [|ks ps IH]; [constructor|]. cbn [forallb] in K. apply andb_prop in K. destruct K as [K1 K2]. cbn [flat_map]. apply Forall2_app; [|now apply IH]. apply cut_list_forall2.
    clear -H K1. induction ks as [|k ks IH]; [constructor|]. cbn [forallb] in K1. apply andb_prop in K1. destruct K1 as [K1 K2]. apply Nat.ltb_lt in K1. cbn [map]. constructor; [now apply forall2_nth|now apply IH]. }
  clear -G. induction G as [|x y q1 q2 H G IH]; [constructor|]. cbn [map]. constructor; auto. unfold in_order_of. destruct (Design.odd_first d); auto. now apply swapped_forall2.
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

Lemma blocks_sound l : forall cs pvs known before w last, ((v (nan before) =? 1) = false -> (v (inf before) =? 1) = false -> forallb (truth m v) known = true) -> Forall2 (Forall2 same_val) pvs (map (map (val_in v)) cs) -> same_val w (val_in v before) -> not_negative w ->
  blocks_ok ct d cs before l = true -> Forall (holds ct) (blocks_claims ct d cs known before l) -> cs <> [] ->
  exists e s, blocks_last d cs l last = Some (e, s) /\ summed_ok m e s = true /\ Forall (holds ct) (summed_claims m e s) /\
    same_val (fold_left (fun v ps => block_value d ps v) pvs w) (val_in v (sum_result s)).
Proof.
  induction l as [|x l IH]; intros cs pvs known before w last KN F W NN BO BC NE; destruct cs as [|ns cs]; cbn [blocks_ok] in BO; try easy.
  cbn [blocks_claims blocks_last] in BC |- *. destruct (tree_for (sums d) (length ns)) as [t|] eqn:TF; [|easy]. destruct (root_sum (sum_plan x)) as [s|] eqn:RS; [|easy].
  rewrite !andb_true_iff in BO. destruct BO as [[[FO TO] NZ] BO]. rewrite !Forall_app in BC. destruct BC as [C1 [C2 C3]]. apply negb_true_iff, Nat.eqb_neq in NZ.
  cbn [map] in F. inversion F as [|ps nv pvs' cs' PS F']; subst. cbn [fold_left].
  assert (LP : length ps = length ns) by (rewrite <- (map_length (val_in v) ns); clear -PS; induction PS; simpl; auto).
  assert (CV : same_val (flush (c_rule d) w) (val_in v (c_counted x))) by (rewrite <- (flush_sound ct v SOL CIRC _ _ _ _ FO C1 KN); now apply (flush_alike w before (c_counted x))).
  destruct (sum_plan x) as [r|s0 [r|] qs] eqn:SP; try easy. cbn [root_sum] in RS. inversion RS; subst s0.
  destruct t as [k| | |st tl]; try easy; try (destruct st; easy).
  destruct (tree_sound ct v SOL CIRC (block_rule d) ns (c_counted x) ps (flush (c_rule d) w) PS CV (Step st tl) (Sum s None qs) TO C2) as [_ S].
  assert (BI : block_value d ps w = eval_steps (block_rule d) ps (flush (c_rule d) w) (Step st tl)) by (apply block_is; [intros Q; rewrite Q in LP; simpl in LP; lia|now rewrite LP]).
  destruct st as [e|e y]; [|easy].
  assert (SO : summed_ok m e s = true) by (cbn [tree_ok] in TO; rewrite !andb_true_iff in TO; tauto).
  assert (SC : Forall (holds ct) (summed_claims m e s)) by (cbn [tree_claims] in C2; rewrite !Forall_app in C2; tauto).
  assert (P : 0 <= p (out e)). { pose proof SO as O1. unfold summed_ok, fused_ok in O1. rewrite !andb_true_iff in O1. assert (EO : ending_ok m (out (sum_design e s)) (closing (sum_body s)) = true) by tauto. unfold ending_ok in EO. rewrite !andb_true_iff, !Z.leb_le in EO. destruct s; cbn [sum_design odd_sum out] in EO; tauto. }
  rewrite <- BI in S. cbn [step_of].
  destruct cs as [|ns' cs].
  - assert (X : l = []) by (now destruct l). subst l. inversion F'; subst. cbn [fold_left blocks_last]. exists e, s. repeat split; auto.
  - apply (IH (ns' :: cs) pvs' (summed_usual e s) (sum_result s)); auto; [exact (summed_usual_true ct v SOL CIRC e s SO SC)| |easy]. rewrite BI. cbn [eval_steps add]. unfold not_negative. match goal with |- context [sum_values e ?z] => destruct (sum_values e z) eqn:SV end; auto. eapply sum_nonneg; eauto.
Qed.

Theorem unit_sound : v (root u) = compute d (words_in u v).
Proof.
  destruct unit_parts as [_ [DO [NH [LN [CN [LA [LB [LO [CO [CI [PI [BO [AD BB]]]]]]]]]]]]].
  pose proof products_are as PR. pose proof elements_length as EL.
  assert (CH : Forall2 (Forall2 same_val) (map (in_order_of d) (chunks d (map (product_value d) (elements d (words_in u v))) (product_value d dummy))) (map (map (val_in v)) (chunked d u))).
  { unfold chunked. rewrite map_map. rewrite (map_ext (fun x => map (val_in v) (in_order_of d x)) (fun x => in_order_of d (map (val_in v) x))) by (intros x; apply order_map).
    rewrite <- (map_map (map (val_in v)) (in_order_of d)), chunks_map. apply chunks_forall2; [|exact PR]. rewrite !map_length. exact PI. }
  assert (NC : chunks d (elements d (words_in u v)) dummy <> []).
  { intros Q. apply CN. assert (L : length (map (in_order_of d) (chunks d (map (product_value d) (elements d (words_in u v))) (product_value d dummy))) = length (map (map (val_in v)) (chunked d u))) by (clear -CH; induction CH; simpl; auto).
    rewrite <- chunks_map, Q in L. cbn in L. rewrite map_length in L. now destruct (chunked d u). }
  rewrite (compute_is d DO _ NH NC). cbv zeta.
  unfold unit_claims in CL. rewrite !Forall_app in CL. destruct CL as [C1 [C2 [C3 [C4 C5]]]].
  assert (CV : decode (c_format d) (c_word (words_in u v)) = val_in v (c_number u)).
  { pose proof (leaf_sound ct (c_factor d u) [] (c_number u) v CO C2 SOL) as S. cbn [fold_left] in S. unfold factor_value in S. cbn [c_factor rule format_of word] in S. rewrite flush_kept_ in S. cbn [words_in c_word]. apply S. intros y [<-|[]]. apply (fits_in _ CI). }
  assert (NNC : not_negative (val_in v (c_number u))).
  { unfold not_negative. rewrite <- CV. pose proof CO as CO'. unfold leaf_ok in CO'. rewrite andb_true_iff in CO'. destruct CO' as [CO1 _]. cbn [forallb c_factor format_of rule word] in CO1. rewrite !andb_true_iff, Z.leb_le in CO1. destruct CO1 as [[[FO _] WD] _].
    assert (FW : 0 <= v (c_input u) < 2 ^ word_width (c_format d)) by (destruct (fits_in _ CI) as [N0 N1]; split; auto; eapply Z.lt_le_trans; [exact N1|]; apply Z.pow_le_mono_r; lia).
    cbn [words_in c_word]. rewrite (decode_shown m v (c_format d) (c_input u) FO FW). unfold val_of. destruct (truth m v _); auto. destruct (truth m v _); auto. cbn [sig]. now apply (word_sig m v (c_format d) (c_input u) FO). }
  unfold chain_value. unfold start_number in BO, C3.
  destruct (composed d) as [how|] eqn:CP.
  - destruct (adding u) as [[r s]|] eqn:AU; [|easy]. destruct (last_block d u) as [[e b]|] eqn:LB_; [|easy]. destruct AD as [A1 [A2 [A3 [A4 [x0 [A5 A6]]]]]].
    unfold adding_claims in C4. rewrite CP, AU, LB_ in C4. rewrite !Forall_app in C4. destruct C4 as [D1 [D2 D3]].
    assert (ZV : decode (d_format d) 0 = val_in v (zero_number u)). { rewrite A5. pose proof (known_sound ct v SOL (start_num d) (zero_number u) A4 D1) as Q. rewrite <- Q. unfold start_num. now rewrite A5. }
    assert (NZ : not_negative (decode (d_format d) 0)) by (now rewrite A5).
    destruct (blocks_sound (block_plans u) (chunked d u) _ [] _ (decode (d_format d) 0) None (fun _ _ => eq_refl) CH ltac:(rewrite ZV; apply same_refl) NZ BO C3 CN) as [e' [b' [Q1 [Q2 [Q3 Q4]]]]].
    unfold last_block in LB_. rewrite Q1 in LB_. inversion LB_; subst e' b'.
    pose proof (flush_sound ct v SOL CIRC _ Kept (sum_result b) r A3 D2 (summed_usual_true ct v SOL CIRC e b Q2 Q3)) as RV. rewrite flush_kept_ in RV. rewrite RV in Q4.
    pose proof (summed_sound ct v SOL CIRC (addition how) s A1 D3) as S. rewrite A2 in S. cbn [map] in S.
    destruct (design_parts d DO) as [_ [_ [_ M]]]. rewrite CP in M. destruct M as [_ [_ RG]].
    rewrite (regular_same (addition how) _ [val_in v r; val_in v (c_number u)] RG) by (constructor; [exact Q4|]; constructor; [rewrite CV; apply same_refl|constructor]).
    rewrite (encode_same _ _ _ _ S). unfold last_sum in C5, BB. rewrite CP, AU in C5, BB. unfold final_nan in C5. rewrite CP in C5.
    apply (word_sound ct (d_format d) (addition_nan how) (sum_result s) (summed_usual (addition how) s) (root u) v BB C5 SOL).
    intros N I. exact (summed_usual_true ct v SOL CIRC (addition how) s A1 D3 N I).
  - destruct (adding u) as [[r s]|] eqn:AU; [easy|].
    destruct (blocks_sound (block_plans u) (chunked d u) _ [] _ (decode (c_format d) (c_word (words_in u v))) None (fun _ _ => eq_refl) CH ltac:(rewrite CV; apply same_refl) ltac:(rewrite CV; exact NNC) BO C3 CN) as [e [s [Q1 [Q2 [Q3 Q4]]]]].
    rewrite (encode_same _ _ _ _ Q4). unfold last_sum in C5, BB. rewrite CP, AU in C5, BB. unfold last_block in C5, BB. rewrite Q1 in C5, BB. unfold final_nan in C5. rewrite CP in C5.
    apply (word_sound ct (d_format d) (Design.nan_word d) (sum_result s) (summed_usual e s) (root u) v BB C5 SOL).
    intros N I. exact (summed_usual_true ct v SOL CIRC e s Q2 Q3 N I).
Qed.
End Sound.

(** A unit computes what its design does, for all words. *)
Theorem words_to_words ct d u : unit_ok ct d u = true -> Forall (holds ct) (unit_claims ct d u) ->
  forall v, solution ct v -> v (root u) = compute d (words_in u v).
Proof. intros. eapply unit_sound; eauto. Qed.
