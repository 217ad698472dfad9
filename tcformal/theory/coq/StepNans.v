(** Sums in an order are a tree of sums, and parameters of a tree's sums that cannot matter, with the words of NaNs that are an operand's. *)
From Coq Require Import ZArith List Bool Permutation Lia.
From TC Require Import Spec Design Designs Words Values Irrelevant AtOnce Mirror Axes Accumulated Trees Summations Exact Orders Stages.
Import ListNotations.
Open Scope Z_scope.

(** * A block's sum and the word of its NaN *)

(** The word of a block that ends as NaN. *)
Definition nan_of_block (d : design) (how : summation) (ns : list (option Z * option Z)) (ps : list val) (c : val) (cw : option Z) : Z :=
  match how, nans d with
  | _, OneWord => nan_word d
  | InSteps t, q => otherwise (nan_word d) (steps_nan q (nan_word d) (c_rule d) ns ps c cw t)
  | _, q => block_nan how q (nan_word d) ns ps c cw
  end.

Definition factor_nans (d : design) (b : list element) : list (option Z * option Z) :=
  map (fun x => (nan_of (a_format d) (d_format d) (a_word x), nan_of (b_format d) (d_format d) (b_word x))) (ordered d b).

Definition step_with (d : design) (how : summation) (fs : list (num * num)) (v : val) (w : Z) (b : list element) : val * Z :=
  let ps := block_products d b in let c := taken_c d v in
  let r := block_sum how (c_rule d) None fs ps c in
  (r, if negb (is_nan r) then w else nan_of_block d how (factor_nans d b) ps c (if is_nan c then Some w else None)).

Lemma step_of d how v w b : skips d = false -> cutting_of d = Whole ->
  block_step (with_sums d how) (v, w) b = step_with d how (whole_factors (with_sums d how) (ordered d b)) v w b.
Proof.
  intros S W. unfold block_step, step_with. change (skips (with_sums d how)) with (skips d). rewrite S. cbn [andb].
  unfold terms, block_products, ordered, taken_c, nan_of_block, factor_nans, ordered. change (cutting_of (with_sums d how)) with (cutting_of d). rewrite W.
  cbv zeta. f_equal. destruct (negb _) eqn:N; [reflexivity|]. destruct d as [? ? ? ? ? ? ? ? ? ? ? ? ? ? rule ?]. destruct how, rule; reflexivity.
Qed.

Lemma own_step d v w b : skips d = false -> cutting_of d = Whole -> block_step d (v, w) b = step_with d (sums d) (whole_factors d (ordered d b)) v w b.
Proof. intros S W. pose proof (step_of d (sums d) v w b S W) as Q. assert (X : with_sums d (sums d) = d) by (now destruct d). rewrite X in Q. exact Q. Qed.

(** One block of products, and its word. *)
Lemma one_block d w : skips d = false -> cutting_of d = Whole -> composed d = None -> (0 < block d)%nat -> length (pairs w) = block d ->
  compute d w = let '(r, n) := step_with d (sums d) (whole_factors d (ordered d (elements d w))) (decode (c_format d) (c_word w)) (snd (start_of d (c_word w))) (elements d w) in
    encode (d_format d) n r.
Proof.
  intros S W Co B L. unfold compute. rewrite Co. unfold blocks. set (xs := elements d w). assert (Lx : length xs = block d) by (unfold xs; now rewrite elements_length).
  assert (Cut : cut_list (length xs) (block d) xs = [xs]).
  { rewrite <- Lx in *. destruct xs as [|y r]; [cbn in B; lia|]. cbn [length cut_list]. rewrite firstn_all2, skipn_all2 by (cbn; lia). now destruct (length r). }
  rewrite Cut. cbn [fold_left]. change (start_of d (c_word w)) with (decode (c_format d) (c_word w), snd (start_of d (c_word w))) at 1. now rewrite own_step.
Qed.

(** Sums that give the same number and the same word on every block of so many products give the same words. *)
Section Same.
Variables (d : design) (how : summation) (C : val -> Prop) (n : nat).
Hypotheses (Sk : skips d = false) (W : cutting_of d = Whole) (Co : composed d = None) (B : (0 < block d)%nat).
Hypothesis E : forall b v w fs fs', length b = n \/ n = O -> (length b <= block d)%nat -> Forall (made_by d) b -> C v ->
  step_with d how fs' v w b = step_with d (sums d) fs v w b /\ C (fst (step_with d (sums d) fs v w b)).

Lemma full_blocks {A} (l : list A) m : (0 < m)%nat -> forall k, (length l <= k)%nat -> (length l mod m = 0)%nat -> Forall (fun b => length b = m) (cut_list k m l).
Proof.
  intros M k. revert l. induction k as [|k IH]; intros l L D; [constructor|]. destruct l as [|x l]; [constructor|]. cbn [cut_list].
  assert (G : (m <= length (x :: l))%nat).
  { pose proof (Nat.div_mod (length (x :: l)) m ltac:(lia)) as Q. rewrite D in Q. destruct (length (x :: l) / m)%nat; cbn [length] in *; nia. }
  constructor; [rewrite firstn_length; lia|]. apply IH; rewrite skipn_length; cbn [length] in *; [lia|].
  replace (S (length l)) with ((S (length l) - m) + 1 * m)%nat in D by lia. now rewrite Nat.mod_add in D by lia.
Qed.

Theorem same_words w : (n = O \/ (n = block d /\ length (pairs w) mod n = 0)%nat) -> C (decode (c_format d) (c_word w)) -> compute d w = compute (with_sums d how) w.
Proof.
  intros L Cs. unfold compute. change (composed (with_sums d how)) with (composed d). rewrite Co.
  change (elements (with_sums d how) w) with (elements d w). change (start_of (with_sums d how) (c_word w)) with (start_of d (c_word w)).
  change (d_format (with_sums d how)) with (d_format d). unfold blocks. change (block (with_sums d how)) with (block d).
  pose proof (cut_list_blocks (made_by d) (block d) B (length (elements d w)) (elements d w) (elements_made d w)) as F.
  assert (Fl : Forall (fun b : list element => length b = n \/ n = O) (cut_list (length (elements d w)) (block d) (elements d w))).
  { destruct L as [->|[-> L]]; [apply Forall_forall; auto|]. eapply Forall_impl; [|apply full_blocks; auto; now rewrite elements_length]. auto. }
  set (bs := cut_list _ _ _) in *. clearbody bs.
  assert (G : forall st, C (fst st) -> fold_left (block_step (with_sums d how)) bs st = fold_left (block_step d) bs st).
  { induction F as [|b r [Lb Hb] F IH]; intros [v x] Hv; [reflexivity|]. apply Forall_cons_iff in Fl. destruct Fl as [Ln Fl]. cbn [fold_left].
    rewrite (step_of d how), (own_step d) by auto.
    destruct (E b v x (whole_factors d (ordered d b)) (whole_factors (with_sums d how) (ordered d b)) Ln Lb Hb Hv) as [-> K]. now apply IH. }
  now rewrite G.
Qed.
End Same.

(** * Sums in an order as a tree *)

Definition val_eq (x y : val) : {x = y} + {x <> y}.
Proof. repeat decide equality. Defined.

(** Operands as trees have them: products, sums, c, zeros. *)
Definition in_kinds (l : list steps) : list steps :=
  filter (fun x => match x with Product _ => true | _ => false end) l ++ filter (fun x => match x with Step _ _ => true | _ => false end) l ++
  filter (fun x => match x with C => true | _ => false end) l ++ filter plus_zero_step l.

Lemma in_kinds_perm l : Permutation l (in_kinds l).
Proof.
  unfold in_kinds. induction l as [|x l IH]; [constructor|]. destruct x; cbn [filter plus_zero_step app].
  - now constructor.
  - rewrite app_assoc. apply Permutation_cons_app. now rewrite <- app_assoc.
  - rewrite !app_assoc. apply Permutation_cons_app. now rewrite <- !app_assoc.
  - now apply Permutation_cons_app.
Qed.

(** A tree, and whether each +0 in it is [z]. *)
Definition marked := (steps * bool)%type.
Definition tree_sum (z : val) (s : stage) (l : list marked) : marked :=
  (Step s (in_kinds (map fst l)), forallb snd l && (negb (existsb (fun x => plus_zero_step (fst x)) l) || if val_eq (zero_of (stage_rounding s)) z then true else false)).
Definition tree_zero (z : val) (s : stage) : marked := (PlusZero, if val_eq (zero_of (stage_rounding s)) z then true else false).
Definition tree_product (k : nat) : marked := (Product k, true).
Definition no_tree : marked := (PlusZero, false).

Definition tree_in (z : val) (how : summation) (ks : list nat) : marked :=
  block_order marked (tree_sum z) (tree_zero z) (fun x => x) no_tree how (map tree_product ks) (C, true).

Definition chain_zero (how : summation) : val := match how with CLast _ s _ => zero_of (stage_rounding s) | _ => NaN end.

(** A sum whose results count as what they are. *)
Definition taken_whole (r : flush_rule) (s : stage) : bool :=
  match r with Kept => true | _ => exact_stage s && (emin (stage_out s) <=? emax (stage_out s)) && quiet_stage r s end.

Lemma taken_ok r s vs : taken_whole r s = true -> flush r (add s vs) = add s vs.
Proof.
  unfold taken_whole. intros H. assert (K : r = Kept \/ exact_stage s && (emin (stage_out s) <=? emax (stage_out s)) && quiet_stage r s = true) by (destruct r; auto).
  destruct K as [->|K]; [apply flush_kept|]. repeat rewrite andb_true_iff in K. destruct K as [[X M] Q]. apply Z.leb_le in M.
  destruct (quiet_flush r s vs X M Q) as [v [-> ->]]. reflexivity.
Qed.

Section Trees.
Variables (r : flush_rule) (ps : list val) (c : val) (z : val).

(** What a sum takes of an operand. *)
Definition operand_value (s : stage) (x : steps) : val :=
  let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s) | _ => v end.

Definition means (x : marked) (v : val) : Prop :=
  snd x = true -> match fst x with PlusZero => v = z | Step _ _ => eval_steps r ps c (fst x) = v /\ flush r v = v | _ => eval_steps r ps c (fst x) = v end.

Lemma means_operands s l m : Forall2 means l m -> snd (tree_sum z s l) = true -> map (operand_value s) (map fst l) = m.
Proof.
  intros H O. unfold tree_sum in O. cbn [snd] in O. apply andb_prop in O. destruct O as [O Z].
  assert (Q : forallb (fun x => negb (plus_zero_step (fst x)) || if val_eq (zero_of (stage_rounding s)) z then true else false) l = true).
  { apply forallb_forall. intros x Hx. apply orb_prop in Z. destruct Z as [Z|Z]; [|rewrite Z; apply orb_true_r].
    apply negb_true_iff in Z. destruct (plus_zero_step (fst x)) eqn:P; [|reflexivity]. exfalso.
    assert (existsb (fun x => plus_zero_step (fst x)) l = true) by (apply existsb_exists; eauto). congruence. }
  clear Z. induction H as [|x v l m M H IH]; [reflexivity|]. cbn [forallb] in O, Q. apply andb_prop in O, Q. destruct O as [O1 O], Q as [Q1 Q].
  cbn [map]. rewrite IH by auto. f_equal. specialize (M O1). unfold operand_value. destruct (fst x) as [k| | |e q]; cbv zeta; auto.
  - cbn [plus_zero_step negb orb] in Q1. destruct (val_eq _ _) as [E|]; [|easy]. now rewrite E.
  - destruct M as [-> M]. exact M.
Qed.

Lemma sum_means s l m : taken_whole r s = true -> Forall2 means l m -> means (tree_sum z s l) (add s m).
Proof.
  intros T H O. rewrite <- (means_operands s l m H O). cbn [fst tree_sum eval_steps]. split; [|now apply taken_ok].
  apply add_perm. apply Permutation_sym, Permutation_map, in_kinds_perm.
Qed.

Lemma zero_means s : means (tree_zero z s) (zero_of (stage_rounding s)).
Proof. unfold means, tree_zero. cbn [snd fst]. destruct (val_eq _ _); easy. Qed.

Notation at_ks ks := (map (fun k => nth k ps NaN) ks).

Lemma products_mean ks : Forall2 means (map tree_product ks) (at_ks ks).
Proof. induction ks as [|k ks IH]; constructor; auto. now intros _. Qed.

Lemma tree_means how ks : forallb (taken_whole r) (block_stages how) = true ->
  means (tree_in z how ks) (block_order val add (fun s => zero_of (stage_rounding s)) (flush r) NaN how (at_ks ks) c).
Proof.
  intros T. unfold tree_in. apply order_related with (P := fun s => taken_whole r s = true); auto.
  - intros. now apply sum_means.
  - intros. apply zero_means.
  - easy.
  - intros s l m Ps H. rewrite taken_ok by auto. now apply sum_means.
  - apply Forall_forall. intros s Hs. rewrite forallb_forall in T. now apply T.
  - apply products_mean.
  - easy.
Qed.

Theorem order_tree how ks fs s l : ordered_sum how = true -> forallb (taken_whole r) (block_stages how) = true -> tree_in z how ks = (Step s l, true) ->
  block_sum how r None fs (at_ks ks) c = eval_steps r ps c (Step s l).
Proof.
  intros O T E. rewrite block_order_sum by auto. pose proof (tree_means how ks T) as M. rewrite E in M. symmetry. now apply M.
Qed.
End Trees.

(** * The words of NaNs in a tree *)

Lemma add_nan s vs : In NaN vs -> add s vs = NaN.
Proof.
  intros H. assert (N : numbers vs = None).
  { unfold numbers. destruct (forallb is_num vs) eqn:A; [|reflexivity]. rewrite forallb_forall in A. now specialize (A NaN H). }
  assert (S : special_sum vs = NaN).
  { unfold special_sum. replace (existsb _ vs) with true; [reflexivity|]. symmetry. apply existsb_exists. now exists NaN. }
  destruct s; cbn [add]; unfold sum_values, on_numbers; now rewrite N.
Qed.

Lemma results_cons s v p l : chain_results s s v (p :: l) = add s [v; p] :: chain_results s s (add s [v; p]) l.
Proof. unfold chain_results. now destruct l. Qed.

Lemma first_some_app l m : first_some (l ++ m) = match first_some l with Some x => Some x | None => first_some m end.
Proof. induction l as [|[x|] l IH]; cbn; auto. Qed.

Section Nans.
Variables (q : nan_rule) (default : Z) (r : flush_rule) (ns : list (option Z * option Z)) (ps : list val) (c : val) (cw : option Z).
Notation nan_in := (steps_nan q default r ns ps c cw).
Notation none := (@None Z, @None Z).

(** The NaN that a sum takes of an operand that is no product. *)
Definition carried (x : steps) : option Z := match x with C => cw | _ => nan_in x end.
Definition no_product (x : steps) : bool := match x with Product _ => false | _ => true end.

Lemma step_nan_one s x k : no_product x = true -> nan_in (Step s (in_kinds [x; Product k])) =
  if is_nan (eval_steps r ps c (Step s (in_kinds [x; Product k])))
  then Some (otherwise default (first_some (in_order q (fst (nth k ns none)) (snd (nth k ns none)) (carried x)))) else None.
Proof.
  intros P. cbn [steps_nan]. destruct (is_nan _); [|reflexivity]. cbn [negb]. do 3 f_equal.
  destruct x; try easy; unfold in_kinds; cbn [filter plus_zero_step app map fold_left carried first_some]; f_equal;
    [now destruct cw|now destruct (nan_in (Step s0 l))].
Qed.

Lemma step_nan_sums s x y : match x, y with (Step _ _ | PlusZero), (Step _ _ | PlusZero | C) => True | _, _ => False end ->
  nan_in (Step s (in_kinds [x; y])) =
  if is_nan (eval_steps r ps c (Step s (in_kinds [x; y])))
  then Some (otherwise default (first_some match y with C => [carried y; carried x] | _ => [carried x; carried y] end)) else None.
Proof.
  intros P. cbn [steps_nan]. destruct (is_nan _); [|reflexivity]. cbn [negb]. do 2 f_equal.
  assert (I : forall o, first_some (in_order q (fst none) (snd none) o) = o) by (intros o; unfold in_order; cbn [fst snd]; destruct q; cbn [first_some]; now destruct o).
  destruct x, y; try easy; unfold in_kinds; cbn [filter plus_zero_step app map fold_left]; rewrite I; cbn [carried first_some app]; try reflexivity;
    try (now destruct cw); try (now destruct (nan_in (Step s0 l))).
Qed.

Variable z : val.
Definition chain_tree_of (s : stage) (x : marked) (ks : list nat) : marked := in_chain marked (tree_sum z) s x (map tree_product ks).

Lemma chain_marks s ks : forall x, snd (chain_tree_of s x ks) = true -> snd x = true.
Proof.
  induction ks as [|k ks IH]; intros x H; [exact H|]. unfold chain_tree_of in *. cbn [map in_chain fold_left] in H. apply IH in H.
  cbn [snd tree_sum forallb map] in H. repeat rewrite andb_true_iff in H. apply H.
Qed.

Lemma chain_nans s ks : taken_whole r s = true -> forall x v w, no_product (fst x) = true -> snd (chain_tree_of s x ks) = true ->
  means r ps c z x v -> carried (fst x) = w -> (w <> None -> v = NaN) ->
  let vs := map (fun k => nth k ps NaN) ks in
  carried (fst (chain_tree_of s x ks)) = chain_nan q default w (combine (map (fun k => nth k ns none) ks) (chain_results s s v vs)) /\
  (carried (fst (chain_tree_of s x ks)) <> None -> chain_of s v vs = NaN) /\ means r ps c z (chain_tree_of s x ks) (chain_of s v vs).
Proof.
  intros T. induction ks as [|k ks IH]; intros x v w Np O M Cx Hw; cbv zeta.
  - unfold chain_tree_of, chain_of. cbn. rewrite Cx. auto.
  - set (x' := tree_sum z s [x; tree_product k]). set (v' := add s [v; nth k ps NaN]).
    change (chain_tree_of s x (k :: ks)) with (chain_tree_of s x' ks) in *. cbn [map]. rewrite results_cons. fold v'.
    change (chain_of s v (nth k ps NaN :: map (fun k => nth k ps NaN) ks)) with (chain_of s v' (map (fun k => nth k ps NaN) ks)).
    cbn [combine]. set (w' := if is_nan v' then Some (otherwise default (first_some (in_order q (fst (nth k ns none)) (snd (nth k ns none)) w))) else w).
    assert (Cn : forall l, chain_nan q default w ((nth k ns none, v') :: l) = chain_nan q default w' l).
    { intros l. unfold chain_nan. cbn [fold_left]. unfold w'. now destruct (nth k ns none). }
    rewrite Cn. pose proof (chain_marks s ks x' O) as O'.
    assert (M' : means r ps c z x' v').
    { apply sum_means; auto. repeat constructor; auto. }
    apply IH; auto.
    + destruct (M' O') as [E _]. unfold x' in E |- *. cbn [fst tree_sum map tree_product carried] in E |- *. rewrite (step_nan_one s (fst x) k Np), E. unfold w'. rewrite Cx.
      destruct (is_nan v') eqn:N; [reflexivity|]. destruct w; [|reflexivity]. exfalso. unfold v' in N. rewrite (Hw ltac:(easy)), add_nan in N; [easy|now left].
    + unfold w'. destruct (is_nan v') eqn:N; [intros _; now destruct v'|]. intros H. specialize (Hw H). unfold v' in N. rewrite Hw, add_nan in N; [easy|now left].
Qed.

Lemma chain_kind s ks : forall x, match fst x with Step _ _ | PlusZero => True | _ => False end -> match fst (chain_tree_of s x ks) with Step _ _ | PlusZero => True | _ => False end.
Proof. induction ks as [|k ks IH]; intros x H; [exact H|]. change (chain_tree_of s x (k :: ks)) with (chain_tree_of s (tree_sum z s [x; tree_product k]) ks). now apply IH. Qed.

(** The word of two chains from +0 and c is that of their tree. *)
Theorem two_chains_nan s last ks t : taken_whole r s = true -> taken_whole r last = true ->
  tree_in z (CLast TwoChains s last) ks = (t, true) -> is_nan (eval_steps r ps c t) = true ->
  match q with OneWord | ProductsThenC _ => false | _ => true end = true ->
  otherwise default (nan_in t) = block_nan (CLast TwoChains s last) q default (map (fun k => nth k ns none) ks) (map (fun k => nth k ps NaN) ks) c cw.
Proof.
  intros Ts Tl E N Q. unfold tree_in in E. cbn [block_order inner_order] in E. unfold in_two in E. rewrite evens_map, odds_map in E.
  fold (chain_tree_of s (tree_zero z s) (evens ks)) (chain_tree_of s (tree_zero z s) (odds ks)) in E.
  set (e := chain_tree_of _ _ (evens _)) in E. set (o := chain_tree_of _ _ (odds _)) in E. set (two := tree_sum z s [e; o]) in E.
  assert (Et : t = Step last (in_kinds [fst two; C])) by (unfold tree_sum in E; cbn [map fst] in E; now injection E).
  pose proof (f_equal snd E) as Ot. change (snd (t, true)) with true in Ot.
  assert (O2 : snd two = true) by (cbn [snd tree_sum forallb] in Ot; repeat rewrite andb_true_iff in Ot; apply Ot).
  assert (Oe : snd e = true /\ snd o = true) by (unfold two in O2; cbn [snd tree_sum forallb] in O2; repeat rewrite andb_true_iff in O2; split; apply O2).
  destruct Oe as [Oe Oo]. set (zero := zero_of (stage_rounding s)).
  assert (Ch : forall js, snd (chain_tree_of s (tree_zero z s) js) = true -> _) by
    (intros js H; exact (chain_nans s js Ts (tree_zero z s) zero None eq_refl H (zero_means r ps c z s) eq_refl ltac:(easy))).
  destruct (Ch _ Oe) as [Ne [Ve Me]]. destruct (Ch _ Oo) as [No [Vo Mo]]. fold e in Ne, Ve, Me. fold o in No, Vo, Mo. clear Ch.
  assert (Ke : match fst e with Step _ _ | PlusZero => True | _ => False end) by now apply chain_kind.
  assert (Ko : match fst o with Step _ _ | PlusZero => True | _ => False end) by now apply chain_kind.
  assert (M2 : means r ps c z two (add s [chain_of s zero (map (fun k => nth k ps NaN) (evens ks)); chain_of s zero (map (fun k => nth k ps NaN) (odds ks))])).
  { apply sum_means; auto. }
  destruct (M2 O2) as [V2 _].
  assert (N2 : carried (fst two) = if is_nan (eval_steps r ps c (fst two)) then Some (otherwise default (first_some [carried (fst e); carried (fst o)])) else None).
  { cbn [fst two tree_sum map carried]. rewrite step_nan_sums by (destruct (fst e), (fst o); try easy).
    assert (Z : match fst o with C => [carried (fst o); carried (fst e)] | _ => [carried (fst e); carried (fst o)] end = [carried (fst e); carried (fst o)]) by (destruct (fst o); easy).
    now rewrite Z. }
  subst t. cbn [fst two tree_sum map] in N |- *. rewrite step_nan_sums by easy. cbn [map] in N. rewrite N. fold (fst two).
  change (Step s (in_kinds [fst e; fst o])) with (fst two). rewrite N2. cbn [carried otherwise].
  assert (B : block_nan (CLast TwoChains s last) q default (map (fun k => nth k ns none) ks) (map (fun k => nth k ps NaN) ks) c cw = otherwise default (first_some [cw; carried (fst e); carried (fst o)])).
  { rewrite Ne, No. unfold block_nan, results_from_zero. fold zero. rewrite !evens_map, !odds_map. now destruct q. }
  rewrite B. destruct cw as [w|]; [reflexivity|]. cbn [first_some].
  destruct (is_nan (eval_steps r ps c (fst two))) eqn:X; [now destruct (carried (fst e)), (carried (fst o))|].
  destruct (carried (fst e)) eqn:Ce; [exfalso; rewrite V2, (Ve ltac:(easy)), add_nan in X; [easy|now left]|].
  destruct (carried (fst o)) eqn:Co; [exfalso; rewrite V2, (Vo ltac:(easy)), add_nan in X; [easy|right; now left]|]. reflexivity.
Qed.

Lemma results_end s last v l p : chain_results s last v (l ++ [p]) = chain_results s s v l ++ [add last [chain_of s v l; p]].
Proof.
  revert v. induction l as [|x l IH]; intros v; [reflexivity|]. rewrite results_cons. cbn [app]. change (chain_of s v (x :: l)) with (chain_of s (add s [v; x]) l). rewrite <- IH.
  unfold chain_results. now destruct l.
Qed.

Lemma combine_end {A B} (l : list A) (m : list B) a b : length l = length m -> combine (l ++ [a]) (m ++ [b]) = combine l m ++ [(a, b)].
Proof. revert m. induction l as [|x l IH]; intros [|y m] L; try easy. cbn in *. now rewrite IH by lia. Qed.

(** The word of a chain from c is that of its tree. *)
Lemma chain_no_product s ks : forall x, no_product (fst x) = true -> no_product (fst (chain_tree_of s x ks)) = true.
Proof. induction ks as [|k ks IH]; intros x H; [exact H|]. change (chain_tree_of s x (k :: ks)) with (chain_tree_of s (tree_sum z s [x; tree_product k]) ks). now apply IH. Qed.

Lemma results_length s l : forall v, length (chain_results s s v l) = length l.
Proof. induction l as [|x l IH]; intros v; [reflexivity|]. rewrite results_cons. cbn [length]. now rewrite IH. Qed.

(** The word of a chain from c is that of its tree. *)
Theorem from_c_nan s last ks k t : (cw <> None -> c = NaN) -> taken_whole r s = true -> taken_whole r last = true ->
  tree_in z (FromC s last) (ks ++ [k]) = (t, true) -> is_nan (eval_steps r ps c t) = true -> match q with OneWord | ProductsThenC _ => false | _ => true end = true ->
  otherwise default (nan_in t) = block_nan (FromC s last) q default (map (fun k => nth k ns none) (ks ++ [k])) (map (fun k => nth k ps NaN) (ks ++ [k])) c cw.
Proof.
  intros Hc Ts Tl E N Q. unfold tree_in in E. cbn [block_order] in E. unfold from_c in E. rewrite map_app in E. cbn [map] in E. rewrite removelast_last, last_last in E.
  assert (E' : tree_sum z last [chain_tree_of s (C, true) ks; tree_product k] = (t, true)) by (unfold chain_tree_of; destruct (map tree_product ks); exact E). clear E.
  set (y := chain_tree_of s (C, true) ks) in E'. assert (Et : t = Step last (in_kinds [fst y; Product k])) by (unfold tree_sum in E'; cbn [map fst] in E'; now injection E').
  pose proof (f_equal snd E') as Ot. change (snd (t, true)) with true in Ot. assert (Oy : snd y = true) by (cbn [snd tree_sum forallb] in Ot; repeat rewrite andb_true_iff in Ot; apply Ot).
  destruct (chain_nans s ks Ts (C, true) c cw eq_refl Oy ltac:(intros _; reflexivity) eq_refl Hc) as [Ny [_ My]]. fold y in Ny, My.
  assert (Np : no_product (fst y) = true) by now apply chain_no_product.
  assert (Mt : means r ps c z (tree_sum z last [y; tree_product k]) (add last [chain_of s c (map (fun k => nth k ps NaN) ks); nth k ps NaN])) by (apply sum_means; auto; repeat constructor; auto).
  destruct (Mt Ot) as [Vt _]. cbn [fst tree_sum map tree_product] in Vt. subst t. rewrite (step_nan_one last (fst y) k Np), N. rewrite Vt in N.
  assert (B : block_nan (FromC s last) q default (map (fun k => nth k ns none) (ks ++ [k])) (map (fun k => nth k ps NaN) (ks ++ [k])) c cw =
    otherwise default (chain_nan q default cw (combine (map (fun k => nth k ns none) (ks ++ [k])) (chain_results s last c (map (fun k => nth k ps NaN) (ks ++ [k])))))) by (unfold block_nan; now destruct q).
  rewrite B, !map_app. cbn [map]. rewrite results_end, combine_end by (now rewrite results_length, !map_length). unfold chain_nan. rewrite fold_left_app. cbn [fold_left]. rewrite N, Ny. cbn [otherwise].
  unfold chain_nan. now destruct (nth k ns none).
Qed.
End Nans.

(** * From words to words *)

Lemma nth_all {A} (l : list A) e : map (fun k => nth k l e) (seq 0 (length l)) = l.
Proof. induction l as [|x l IH]; [reflexivity|]. cbn [length seq map nth]. f_equal. rewrite <- seq_shift, map_map. exact IH. Qed.

Lemma swapped_each {A B} (g : A -> B) l : map g (swapped l) = swapped (map g l).
Proof.
  assert (G : forall n l, (length l <= n)%nat -> map g (swapped l) = swapped (map g l)).
  { induction n as [|n IH]; intros [|x [|y m]] L; try reflexivity; [simpl in L; lia|]. cbn [swapped map]. rewrite IH; [reflexivity|simpl in L; lia]. }
  now apply (G (length l)).
Qed.

(** Where the products of a block are in its sums. *)
Definition places (d : design) : list nat := if odd_first d then swapped (seq 0 (block d)) else seq 0 (block d).

Lemma placed {A} d (g : element -> A) xs e : length xs = block d -> map g (ordered d xs) = map (fun k => nth k (map g xs) e) (places d).
Proof.
  intros L. assert (N : map (fun k => nth k (map g xs) e) (seq 0 (block d)) = map g xs) by (rewrite <- L, <- (map_length g); apply nth_all).
  unfold ordered, places. destruct (odd_first d); [|now symmetry]. now rewrite !swapped_each, N.
Qed.

(** The sums of an order as a tree, of designs of whole products whose NaNs are one word or those of chains. *)
Definition as_steps (d : design) : option summation :=
  let how := sums d in
  match tree_in (chain_zero how) how (places d) with
  | (Step s l, true) =>
      if ordered_sum how && forallb (taken_whole (c_rule d)) (block_stages how) && negb (skips d) && match cutting_of d, composed d with Whole, None => true | _, _ => false end &&
         match nans d, how with OneWord, _ | (FirstOperand | BSumA | ASumB), (CLast TwoChains _ _ | FromC _ _) => true | _, _ => false end && (0 <? Z.of_nat (block d))
      then Some (InSteps (Step s l)) else None
  | _ => None
  end.

Theorem order_as_steps d how w : as_steps d = Some how -> length (pairs w) = block d -> compute d w = compute (with_sums (with_order d false) how) w.
Proof.
  unfold as_steps. intros O L. destruct (tree_in _ _ _) as [t m] eqn:E. destruct t as [| | |s l]; try discriminate O. destruct m; [|discriminate O].
  destruct (_ && _) eqn:G in O; [|discriminate O]. injection O as <-. repeat rewrite andb_true_iff in G. destruct G as [[[[[Os T] Sk] W] Q] B].
  apply negb_true_iff in Sk. apply Z.ltb_lt in B. destruct (cutting_of d) eqn:Wc; try discriminate W. destruct (composed d) eqn:Co; [discriminate W|]. assert (Bn : (0 < block d)%nat) by lia.
  set (how := InSteps (Step s l)). set (d' := with_sums (with_order d false) how). rewrite (one_block d w Sk Wc Co Bn L), (one_block d' w Sk Wc Co Bn L).
  change (elements d' w) with (elements d w). set (xs := elements d w). change (c_format d') with (c_format d). change (d_format d') with (d_format d). change (start_of d' (c_word w)) with (start_of d (c_word w)).
  set (v := decode (c_format d) (c_word w)). set (n0 := snd (start_of d (c_word w))). assert (Lx : length xs = block d) by (unfold xs; now rewrite elements_length).
  unfold step_with. cbv zeta. change (taken_c d' v) with (taken_c d v). change (sums d') with how. change (c_rule d') with (c_rule d).
  assert (Ep : block_products d xs = map (fun k => nth k (block_products d' xs) NaN) (places d)) by (unfold block_products; now apply placed).
  assert (En : factor_nans d xs = map (fun k => nth k (factor_nans d' xs) (None, None)) (places d)) by (unfold factor_nans; now apply placed).
  rewrite Ep, En. set (ps := block_products d' xs). set (ns := factor_nans d' xs). set (c := taken_c d v).
  pose proof (order_tree (c_rule d) ps c _ (sums d) (places d) (whole_factors d (ordered d xs)) s l Os T E) as V. rewrite V. unfold how. cbn [block_sum].
  f_equal. destruct (is_nan _) eqn:N; cbn [negb]; [|reflexivity]. unfold nan_of_block. change (nans d') with (nans d). change (nan_word d') with (nan_word d). change (c_rule d') with (c_rule d).
  assert (Fs : forall s0 s1, block_stages (sums d) = [s0; s1] -> taken_whole (c_rule d) s0 = true /\ taken_whole (c_rule d) s1 = true).
  { intros s0 s1 X. rewrite X in T. cbn [forallb] in T. repeat rewrite andb_true_iff in T. split; apply T. }
  assert (Ne : exists ks k, places d = ks ++ [k]).
  { destruct (places d) as [|k0 k1] eqn:X using rev_ind; [|eauto]. exfalso. apply (f_equal (@length nat)) in X. unfold places in X. destruct (odd_first d); rewrite ?swapped_length, seq_length in X; cbn in X; lia. }
  destruct (nans d) eqn:R; try discriminate Q; [now destruct (sums d)| | |];
    destruct (sums d) as [| | | | | |st last|[] st last|] eqn:S; try discriminate Q; cbn [chain_zero] in E; destruct (Fs _ _ eq_refl) as [F1 F2];
    [destruct Ne as [ks [k Ne]]; rewrite Ne in E |- *; symmetry; eapply from_c_nan; eauto; destruct (is_nan c) eqn:X; [intros _; now destruct c|easy]|symmetry; eapply two_chains_nan; eauto|
     destruct Ne as [ks [k Ne]]; rewrite Ne in E |- *; symmetry; eapply from_c_nan; eauto; destruct (is_nan c) eqn:X; [intros _; now destruct c|easy]|symmetry; eapply two_chains_nan; eauto|
     destruct Ne as [ks [k Ne]]; rewrite Ne in E |- *; symmetry; eapply from_c_nan; eauto; destruct (is_nan c) eqn:X; [intros _; now destruct c|easy]|symmetry; eapply two_chains_nan; eauto].
Qed.

(** * Parameters of a tree's sums that cannot matter *)

Lemma first_some_kept {A} (f : A -> option Z) (drop : A -> bool) l : (forall x, drop x = true -> f x = None) ->
  first_some (map f (filter (fun x => negb (drop x)) l)) = first_some (map f l).
Proof.
  intros H. induction l as [|x l IH]; [reflexivity|]. cbn [filter map first_some]. destruct (drop x) eqn:D; cbn [negb].
  - now rewrite (H x D).
  - cbn [map first_some]. now rewrite IH.
Qed.

Section Idle.
Variables (tb cb : bounds) (r : flush_rule) (q : nan_rule) (default : Z) (ns : list (option Z * option Z)) (ps : list val) (c : val) (cw : option Z).
Hypothesis (K : kept_or_zero r = true) (Hp : Forall (inside tb) ps) (Hc : inside cb c).

Lemma idle_nans t : forall t', idle_steps r tb cb t t' = true -> steps_nan q default r ns ps c cw t' = steps_nan q default r ns ps c cw t.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; intros t' O; pose proof O as O0; destruct t' as [k'| | |s' l']; cbn [idle_steps] in O; try easy; try (destruct s as [d|]; easy).
  destruct s as [d|], s' as [d'|]; try easy. cbv zeta in O. set (drops := existsb plus_zero_step l && _ && _) in O. apply andb_prop in O. destruct O as [_ G]. clearbody drops.
  destruct (idle_steps_ok tb cb r ps c K Hp Hc _ _ O0) as [E _]. cbn [steps_nan]. rewrite E. destruct (negb (is_nan _)); [reflexivity|]. clear E O0.
  set (keep := filter (fun x => negb (drops && plus_zero_step x)) l).
  assert (A : Forall2 (fun x x' => idle_steps r tb cb x x' = true /\ steps_nan q default r ns ps c cw x' = steps_nan q default r ns ps c cw x) keep l').
  { unfold keep. clear -IH G. revert l' G. induction IH as [|x l P IH IHl]; intros l' G; [destruct l'; [constructor|easy]|].
    cbn [filter]. destruct (drops && plus_zero_step x); cbn [negb]; [now apply IHl|].
    destruct l' as [|x' l']; [easy|]. apply andb_prop in G. destruct G as [G1 G2]. constructor; [split; auto|now apply IHl]. }
  assert (M1 : map (fun x => match x with C => cw | _ => None end) l' = map (fun x => match x with C => cw | _ => None end) keep).
  { clear -A. induction A as [|x x' k l' [H _] A IH]; [reflexivity|]. cbn [map]. rewrite IH. f_equal. destruct x, x'; try easy; destruct s; easy. }
  assert (M2 : map (fun x => steps_nan q default r ns ps c cw x) l' = map (fun x => steps_nan q default r ns ps c cw x) keep).
  { clear -A. induction A as [|x x' k l' [_ H] A IH]; [reflexivity|]. cbn [map]. now rewrite IH, H. }
  assert (M3 : forall n, fold_left (fun n x => match x with Product k => nth k ns (None, None) | _ => n end) l' n = fold_left (fun n x => match x with Product k => nth k ns (None, None) | _ => n end) l n).
  { assert (M : forall n, fold_left (fun n x => match x with Product k => nth k ns (None, None) | _ => n end) l' n = fold_left (fun n x => match x with Product k => nth k ns (None, None) | _ => n end) keep n).
    { clear -A. induction A as [|x x' k l' [H _] A IH]; intros n; [reflexivity|]. cbn [fold_left]. rewrite IH. f_equal. destruct x as [i| | |[|] ?], x' as [j| | |? ?]; try easy. cbn in H. apply Nat.eqb_eq in H. now subst. }
    intros n. rewrite M. unfold keep. clear. revert n. induction l as [|x l IH]; intros n; [reflexivity|]. cbn [filter fold_left].
    destruct (drops && plus_zero_step x) eqn:D; cbn [negb fold_left]; rewrite IH; [|reflexivity]. apply andb_prop in D. destruct D as [_ D]. now destruct x. }
  rewrite M1, M2, M3. do 3 f_equal. f_equal.
  rewrite !first_some_app. unfold keep. rewrite !first_some_kept; auto; intros x D; apply andb_prop in D; destruct D as [_ D]; now destruct x.
Qed.
End Idle.

Definition idle_words (d : design) (how : summation) : bool :=
  negb (skips d) && match cutting_of d, composed d, zero_terms (factors d) with Whole, None, None => true | _, _, _ => false end &&
  (0 <? Z.of_nat (block d)) && format_ok (c_format d) && kept_or_zero (c_rule d) &&
  match sums d, how, term_bounds d, last_out (sums d) with
  | InSteps (Step s l), InSteps t, Some tb, Some o =>
      idle_steps (c_rule d) tb (format_bounds (c_format d)) (Step s l) t && idle_steps (c_rule d) tb (result_bounds o) (Step s l) t
  | _, _, _, _ => false
  end.

(** What is known of the operands of each sum of a tree decides, whatever the words of NaNs: the same word on all words. *)
Theorem idle_steps_words d how w : idle_words d how = true -> compute d w = compute (with_sums d how) w.
Proof.
  unfold idle_words. intros O. repeat rewrite andb_true_iff in O. destruct O as [[[[[Sk W] B] Of] K] O]. apply negb_true_iff in Sk. apply Z.ltb_lt in B.
  destruct (cutting_of d) eqn:Wc; try easy. destruct (composed d) eqn:Co; [easy|]. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  destruct (sums d) as [| | | | | | | |[| | |s l]] eqn:S; try easy. destruct how as [| | | | | | | |t]; try easy.
  destruct (term_bounds d) as [tb|] eqn:T; [|easy]. destruct (last_out (InSteps (Step s l))) as [o|] eqn:Lo; [|easy]. apply andb_prop in O. destruct O as [G1 G2].
  apply same_words with (C := fun v => inside (format_bounds (c_format d)) v \/ inside (result_bounds o) v) (n := O); auto; [lia| |left; now apply decode_inside].
  intros b v x fs fs' _ _ M Hv. unfold step_with. cbv zeta. rewrite S. pose proof (products_inside d tb b T M) as Hp.
  assert (Q : exists cb, idle_steps (c_rule d) tb cb (Step s l) t = true /\ inside cb (taken_c d v)).
  { rewrite taken_kept by auto. destruct Hv as [Hv|Hv]; eexists; (split; [|apply flush_inside; eauto]); auto. }
  destruct Q as [cb [G Hc]]. destruct (idle_steps_ok tb cb (c_rule d) (block_products d b) (taken_c d v) K Hp Hc _ _ G) as [E I]. cbn [block_sum]. rewrite E. split.
  - f_equal. destruct (negb _); [reflexivity|]. unfold nan_of_block. destruct (nans d); auto; f_equal; now apply idle_nans with tb cb.
  - right. cbn [fst eval_steps]. destruct s as [e|]; [|easy]. injection Lo as <-. apply sum_inside. cbn [idle_steps] in G. destruct t as [| | |[d'|] ?]; try easy. apply andb_prop in G. destruct G as [G _]. exact (idle_range _ _ _ _ G).
Qed.

(** * From c = +0 *)

(** What is known of a c whose word is 0. *)
Definition zero_word_bounds (f : format) : bounds :=
  {| shape_of := shape_of (format_bounds f); lowest := least f; grid := format_top f; upto := least f; low_upto := least f; width := fbits f |}.

Lemma zero_word_inside f : format_ok f = true -> has_zero f = true -> inside (zero_word_bounds f) (decode f 0).
Proof.
  intros O Hz x H. destruct (decode_inside f 0 O x H) as [F [L [_ [_ W]]]].
  assert (Z : sig x = 0 /\ exp x = least f).
  { unfold decode in H. rewrite ?Zdiv_0_l, ?Zmod_0_l, ?Zdiv_0_l, Hz in H. cbn [Z.eqb andb] in H. unfold least. rewrite Hz.
    destruct (special f); repeat match type of H with (if ?b then _ else _) = _ => destruct b; try discriminate H end;
      injection H as <-; cbn [sig exp]; now destruct (subnormals f). }
  destruct Z as [S E]. split; [exact F|]. split; [cbn; lia|]. split; [apply Zeros.multiple_zero; unfold is_zero; now rewrite S|]. split; [unfold under; cbn; destruct (low_sig x); lia|exact W].
Qed.

Definition idle_from_zero (d : design) (how : summation) : bool :=
  one_nan d && negb (skips d) && match cutting_of d, composed d, zero_terms (factors d) with Whole, None, None => true | _, _, _ => false end &&
  (0 <? Z.of_nat (block d)) && format_ok (c_format d) && has_zero (c_format d) && kept_or_zero (c_rule d) &&
  match term_bounds d, last_out (sums d) with
  | Some tb, Some _ => (0 <=? fst (shape_of tb)) && idle_summation (c_rule d) tb (zero_word_bounds (c_format d)) (block d) (sums d) how
  | _, _ => false
  end.

(** What is known of the operands of each sum where c is +0 decides: parameters of the sums of one block at other values. *)
Theorem idle_sums_from_zero d how w : idle_from_zero d how = true -> length (pairs w) = block d -> c_word w = 0 -> compute d w = compute (with_sums d how) w.
Proof.
  unfold idle_from_zero. intros O L Zc. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[On Sk] W] B] Of] Hz] K] O]. apply negb_true_iff in Sk. apply Z.ltb_lt in B.
  destruct (cutting_of d) eqn:Wc; try easy. destruct (composed d) eqn:Co; [easy|]. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  destruct (term_bounds d) as [tb|] eqn:T; [|easy]. destruct (last_out (sums d)) as [o|] eqn:Lo; [|easy]. apply andb_prop in O. destruct O as [Pos G]. apply Z.leb_le in Pos.
  assert (Bn : (0 < block d)%nat) by lia. set (d' := with_sums d how). rewrite (one_block d w Sk Wc Co Bn L), (one_block d' w Sk Wc Co Bn L), Zc.
  change (elements d' w) with (elements d w). change (start_of d' 0) with (start_of d 0). change (c_format d') with (c_format d). change (d_format d') with (d_format d).
  set (v := decode (c_format d) 0). unfold step_with. cbv zeta. change (block_products d' (elements d w)) with (block_products d (elements d w)).
  change (taken_c d' v) with (taken_c d v). change (c_rule d') with (c_rule d). change (sums d') with how.
  assert (Hc : inside (zero_word_bounds (c_format d)) (taken_c d v)) by (rewrite taken_kept by auto; now apply flush_inside, zero_word_inside).
  assert (Lp : (length (block_products d (elements d w)) <= block d)%nat) by (rewrite block_products_length, elements_length; lia).
  pose proof (products_inside d tb _ T (elements_made d w)) as Hp.
  rewrite (proj1 (block_idle d how tb o K Lo Pos _ (whole_factors d (ordered d (elements d w))) (whole_factors d' (ordered d' (elements d w))) _ _ G Lp Hp Hc)).
  f_equal. destruct (negb _); [reflexivity|]. unfold nan_of_block. change (nans d') with (nans d). change (nan_word d') with (nan_word d).
  unfold one_nan in On. rewrite Co in On. destruct (nans d); try discriminate On. now destruct how, (sums d).
Qed.
