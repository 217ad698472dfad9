(** The words of NaN results that are an operand's: terms over a circuit's nodes for [Design.block_nan]. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage TreeSums.
Import ListNotations.
Open Scope Z_scope.

(** * NaNs that may be there *)

Record maybe_nan := MaybeNan { present : formula; nan_word_of : term }.
Definition no_nan : maybe_nan := MaybeNan Never (Num_ 0).

(** The quiet NaN of a word, as [Design.quiet]. *)
Definition quiet_term (f t : format) (w : positive) : term :=
  let moved := Times (Bits (ignored f) (fbits f) (U w)) (Num_ (2 ^ (fbits t - fbits f))) in
  let half := Num_ (2 ^ (fbits t - 1)) in
  let s := if has_sign f then Bits (ignored f + fbits f + ebits f) 1 (U w) else Num_ 0 in
  Times (Plus (Times (Plus (Times s (Num_ (2 ^ ebits t))) (Num_ (2 ^ ebits t - 1))) (Num_ (2 ^ fbits t)))
           (If (Less moved half) (Plus moved half) moved)) (Num_ (2 ^ ignored t)).
Definition word_nan (f t : format) (w : positive) : maybe_nan := MaybeNan (s_nan (shown_word f w)) (quiet_term f t w).

Definition first_present (default : term) (l : list maybe_nan) : term := fold_right (fun o t => If (present o) (nan_word_of o) t) default l.
Definition ordered_nans (r : nan_rule) (a b s : maybe_nan) : list maybe_nan :=
  match r with BSumA => [b; s; a] | ASumB => [a; s; b] | _ => [a; b; s] end.

Definition nans_of := (maybe_nan * maybe_nan)%type.

Section Terms.
Variables (r : nan_rule) (default : Z).
Let dflt := Num_ default.

(** [Design.chain_nan]; each step with its result. *)
Definition chain_step (w : maybe_nan) (x : nans_of * number) : maybe_nan :=
  let '((a, b), y) := x in
  MaybeNan (Either (Is (nan y)) (present w)) (If (Is (nan y)) (first_present dflt (ordered_nans r a b w)) (nan_word_of w)).
Definition chain_term (s : maybe_nan) (l : list (nans_of * number)) : maybe_nan := fold_left chain_step l s.

(** [Design.pairs_nan]; [ys]: the results of the chain. *)
Fixpoint pairs_term (ys : list number) (l : list (nans_of * number)) : maybe_nan :=
  match l, ys with
  | (n1, p1) :: (n2, p2) :: l, y :: ys =>
      let rest := match l with _ :: _ :: rest => pairs_term ys rest | _ => no_nan end in
      MaybeNan (Either (Is (nan p1)) (Either (Is (nan p2)) (Either (Is (nan y)) (present rest))))
        (If (Is (nan p1)) (first_present dflt [fst n1; snd n1])
        (If (Is (nan p2)) (first_present dflt [fst n2; snd n2])
        (If (Is (nan y)) dflt (nan_word_of rest))))
  | _, _ => no_nan
  end.

(** The results along the first operands of a tree. *)
Fixpoint spine (q : tree_plan) : list number :=
  match q with Sum s _ (q :: _) => spine q ++ [sum_result s] | _ => [] end.
Definition operands_of (q : tree_plan) : list tree_plan := match q with Sum _ _ l => l | _ => [] end.
Definition plan_at (k : nat) (q : tree_plan) : tree_plan := nth k (operands_of q) q.

(** [Design.block_nan]; [ns]: the NaNs of factors, [ps]: products, [cw]: the NaN of c. *)
Definition block_term (how : summation) (ns : list nans_of) (ps : list number) (cw : maybe_nan) (q : tree_plan) : term :=
  match how with
  | CLast Together _ _ => first_present dflt [chain_term no_nan (combine ns (firstn 1 ps ++ spine (plan_at 0 q))); cw]
  | CLast TwoChains _ _ =>
      let both := plan_at 0 q in
      first_present dflt [cw; chain_term no_nan (combine (evens ns) (spine (plan_at 0 both))); chain_term no_nan (combine (odds ns) (spine (plan_at 1 both)))]
  | CLast PairChains _ _ =>
      let both := plan_at 0 q in
      let steps := combine ns ps in
      first_present dflt [cw; pairs_term (spine (plan_at 0 both)) steps; pairs_term (spine (plan_at 1 both)) (tl (tl steps))]
  | _ => first_present dflt [chain_term cw (combine ns (spine q))]
  end.

(** [Design.steps_nan]; the first of some NaNs as one. *)
Definition one_of (l : list maybe_nan) : maybe_nan := MaybeNan (any_of (map present l)) (first_present dflt l).
Definition factors_in (ns : list nans_of) (l : list steps) : nans_of := fold_left (fun n x => match x with Product k => nth k ns (no_nan, no_nan) | _ => n end) l (no_nan, no_nan).
Fixpoint steps_term (ns : list nans_of) (cw : maybe_nan) (t : steps) (q : tree_plan) {struct t} : maybe_nan :=
  match t, q with
  | Step _ l, Sum x _ qs =>
      let inner := (fix go (l : list steps) (qs : list tree_plan) : list maybe_nan := match l, qs with t :: l, q :: qs => steps_term ns cw t q :: go l qs | _, _ => [] end) l qs in
      let fs := factors_in ns l in
      MaybeNan (Is (nan (sum_result x)))
        (first_present dflt (ordered_nans r (fst fs) (snd fs) (one_of (map (fun x => match x with C => cw | _ => no_nan end) l ++ inner))))
  | _, _ => no_nan
  end.

(** The sums whose NaNs [block_term] has. *)
Definition nan_sums (how : summation) (k : nat) : bool :=
  match how with
  | CLast Together _ _ => (k =? 2)%nat
  | CLast TwoChains _ _ | FromC _ _ => true
  | CLast PairChains _ _ => (k mod 4 =? 0)%nat
  | OneSum _ => (k =? 1)%nat
  | _ => false
  end.
End Terms.

(** * They have the words that they should *)

Section Sound.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Variables (r : nan_rule) (default : Z).
Let dflt := Num_ default.

Definition nan_in (o : maybe_nan) : option Z := if truth m v (present o) then Some (value m v (nan_word_of o)) else None.

Lemma nan_if i p t w : nan_in (MaybeNan (Either (Is i) p) (If (Is i) t w)) = if v i =? 1 then Some (value m v t) else nan_in (MaybeNan p w).
Proof. unfold nan_in. cbn [present nan_word_of truth value]. destruct (v i =? 1); reflexivity. Qed.

Lemma first_is l : value m v (first_present dflt l) = otherwise default (first_some (map nan_in l)).
Proof.
  induction l as [|o l IH]; [reflexivity|]. cbn [first_present fold_right map first_some]. change (value m v (If ?c ?a ?b)) with (if truth m v c then value m v a else value m v b).
  unfold nan_in at 1. destruct (truth m v (present o)); [reflexivity|exact IH].
Qed.

Lemma ordered_is a b s : map nan_in (ordered_nans r a b s) = in_order r (nan_in a) (nan_in b) (nan_in s).
Proof. now destruct r. Qed.

Lemma word_nan_is f t w : format_ok f = true -> 0 <= v w < 2 ^ word_width f -> fbits f <= fbits t -> nan_in (word_nan f t w) = nan_of f t (v w).
Proof.
  intros F W L. unfold nan_in, nan_of. rewrite (decode_shown m v f w F W). unfold val_of. cbn [word_nan present nan_word_of].
  destruct (truth m v (s_nan (shown_word f w))); [|now destruct (truth m v (s_inf (shown_word f w)))]. cbn [Design.is_nan]. f_equal.
  unfold format_ok in F. rewrite !andb_true_iff, !Z.leb_le in F. destruct F as [[I FB] E]. unfold word_width in W.
  unfold quiet, quiet_term. set (moved := Times (Bits (ignored f) (fbits f) (U w)) (Num_ (2 ^ (fbits t - fbits f)))).
  assert (MV : value m v moved = (v w / 2 ^ ignored f) mod 2 ^ fbits f * 2 ^ fbits t / 2 ^ fbits f).
  { unfold moved. cbn [value]. assert (E2 : 2 ^ fbits t = 2 ^ (fbits t - fbits f) * 2 ^ fbits f) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    rewrite E2, Z.mul_assoc. symmetry. apply Z.div_mul. apply Z.pow_nonzero; lia. }
  set (s := if has_sign f then Bits _ _ _ else _).
  assert (SV : value m v s = if has_sign f then v w / 2 ^ ignored f / 2 ^ (ebits f + fbits f) else 0).
  { unfold s. destruct (has_sign f); [|reflexivity]. cbn [value]. rewrite Zdiv.Zdiv_Zdiv, <- Z.pow_add_r by (try (apply Z.lt_le_incl, Z.pow_pos_nonneg); lia).
    replace (ignored f + (ebits f + fbits f)) with (ignored f + fbits f + ebits f) by lia. apply Z.mod_small. split; [apply Z.div_pos; [lia|apply Z.pow_pos_nonneg; lia]|].
    apply Z.div_lt_upper_bound; [apply Z.pow_pos_nonneg; lia|]. rewrite <- Z.pow_add_r by lia. apply W. }
  clearbody moved s. cbn [value truth].
  rewrite MV, SV. reflexivity.
Qed.

(** A NaN's number. *)
Lemma nan_same w y : same_val w (val_in v y) -> Design.is_nan w = (v (nan y) =? 1).
Proof. unfold val_in. destruct w, (v (nan y) =? 1), (v (inf y) =? 1); cbn; easy. Qed.

Definition nans_like (a : option Z * option Z) (b : nans_of) : Prop := fst a = nan_in (fst b) /\ snd a = nan_in (snd b).
Definition nan_like (w : val) (y : number) : Prop := Design.is_nan w = (v (nan y) =? 1).
Definition step_like (a : (option Z * option Z) * val) (b : nans_of * number) : Prop := nans_like (fst a) (fst b) /\ nan_like (snd a) (snd b).

Lemma chain_is l k : Forall2 step_like l k -> forall s, chain_nan r default (nan_in s) l = nan_in (chain_term r default s k).
Proof.
  induction 1 as [|[[a b] x] [[a' b'] y] l k [[A B] H] F IH]; intros s; [reflexivity|]. change (chain_term r default s (((a', b'), y) :: k)) with (chain_term r default (chain_step r default s ((a', b'), y)) k).
  change (chain_nan r default (nan_in s) (((a, b), x) :: l)) with (chain_nan r default (if Design.is_nan x then Some (otherwise default (first_some (in_order r a b (nan_in s)))) else nan_in s) l).
  rewrite <- IH. f_equal. cbn [fst snd] in *. rewrite H. subst a b. unfold chain_step. rewrite nan_if.
  destruct (v (nan y) =? 1); [|now destruct s]. fold dflt. now rewrite first_is, ordered_is.
Qed.

Lemma combine_like ns' ns vs ps : Forall2 nans_like ns' ns -> Forall2 nan_like vs ps -> Forall2 step_like (combine ns' vs) (combine ns ps).
Proof.
  intros F. revert vs ps. induction F as [|a b l k H F IH]; intros vs ps G; [constructor|]. destruct ps as [|p ps]; inversion G; subst; [constructor|]. cbn [combine]. constructor; [now split|]. now apply IH.
Qed.

(** The sums of pairs along a chain. *)
Fixpoint pair_results (s : stage) (x : val) (l : list val) : list val :=
  match l with
  | p1 :: p2 :: l => let y := add s [x; add s [p1; p2]] in y :: match l with _ :: _ :: rest => pair_results s y rest | _ => [] end
  | _ => []
  end.

Lemma pairs_is s : forall n l k x ys, (length l <= n)%nat -> Forall2 step_like l k -> Forall2 nan_like (pair_results s x (map snd l)) ys ->
  pairs_nan default s x l = nan_in (pairs_term default ys k).
Proof.
  induction n as [|n IH]; intros l k x ys L F G.
  { destruct l; [|simpl in L; lia]. inversion F; subst. now destruct ys. }
  destruct F as [|[n1 p1] [m1 q1] l k [[A1 B1] H1] F]; [now destruct ys|]. destruct F as [|[n2 p2] [m2 q2] l k [[A2 B2] H2] F]; [now destruct ys|].
  cbn [map snd pair_results] in G. destruct ys as [|y ys]; [inversion G|]. inversion G as [|? ? ? ? GY GR]; subst. cbn [fst snd] in *.
  cbn [pairs_nan pairs_term fst snd]. rewrite H1, H2, GY. rewrite A1, B1, A2, B2.
  rewrite !nan_if, !first_is. cbn [map value].
  destruct (v (nan q1) =? 1); [reflexivity|]. destruct (v (nan q2) =? 1); [reflexivity|]. destruct (v (nan y) =? 1); [reflexivity|].
  destruct F as [|a1 b1 l k H3 F]; [reflexivity|]. destruct F as [|a2 b2 l k H4 F]; [reflexivity|].
  apply IH; auto. simpl in L. lia.
Qed.

Lemma chain_of_pairs s : forall n l x, (length l <= n)%nat -> Nat.even (length l) = true -> chain_results s s x (every_second (add_pairs s l)) = pair_results s x l.
Proof.
  induction n as [|n IH]; intros l x L E; [destruct l; [reflexivity|simpl in L; lia]|].
  destruct l as [|a [|b l]]; try easy. destruct l as [|a' [|b' l]]; try easy.
  cbn [add_pairs every_second pair_results]. rewrite <- (IH l) by (auto; simpl in L; lia). clear. unfold chain_results. now destruct (every_second (add_pairs s l)).
Qed.

Lemma one_is l : nan_in (one_of default l) = first_some (map nan_in l).
Proof.
  unfold nan_in at 1, one_of. cbn [present nan_word_of]. rewrite first_is, truth_any. induction l as [|o l IH]; [reflexivity|]. cbn [map existsb first_some].
  assert (NO : nan_in o = if truth m v (present o) then Some (value m v (nan_word_of o)) else None) by reflexivity. rewrite NO. destruct (truth m v (present o)); cbn [orb]; [reflexivity|exact IH].
Qed.

(** ** In a tree of any form *)
Section Steps.
Variables (rule : flush_rule) (pn : list number) (cn : number) (ps : list val) (c : val).
Hypothesis PS : Forall2 same_val ps (map (val_in v) pn).
Hypothesis CV : same_val c (val_in v cn).

Lemma factors_are ns' ns l : Forall2 nans_like ns' ns ->
  nans_like (fold_left (fun n x => match x with Product k => nth k ns' (None, None) | _ => n end) l (None, None)) (factors_in ns l).
Proof.
  intros F. unfold factors_in. assert (N0 : nans_like (None, None) (no_nan, no_nan)) by (split; reflexivity). revert N0. generalize (@None Z, @None Z) at 1 3, (no_nan, no_nan) at 1 3.
  induction l as [|t l IH]; intros a b H; [exact H|]. cbn [fold_left]. apply IH. destruct t as [k| | |]; auto. clear -F. revert k. induction F as [|x y k l H F IH]; intros [|i]; cbn [nth]; auto; split; reflexivity.
Qed.

Theorem steps_term_is ns' ns cw : Forall2 nans_like ns' ns -> forall t q, tree_ok m rule pn cn t q = true -> Forall (holds ct) (tree_claims m rule t q) ->
  steps_nan r default rule ns' ps c (nan_in cw) t = nan_in (steps_term r default ns cw t q).
Proof.
  intros F t. induction t as [k| | |s l IH] using steps_induction; intros q OK CL; destruct q as [y|x fl qs]; try reflexivity; try (now destruct s).
  pose proof (tree_sound ct v SOL CIRC rule pn cn ps c PS CV (Step s l) (Sum x fl qs) OK CL) as [_ S]. apply nan_same in S.
  destruct s as [d|]; [|easy].
  change (summed_ok m d x && numbers_eqb (sum_operands x) (map plan_number qs) && flush_ok m rule (sum_result x) (flushed_number x fl) && go_ok ct rule pn cn d l qs = true) in OK.
  change (Forall (holds ct) (summed_claims m d x ++ flush_claims (summed_usual d x) rule (sum_result x) (flushed_number x fl) ++ go_claims ct rule d l qs)) in CL.
  rewrite !andb_true_iff in OK. destruct OK as [_ OK]. rewrite !Forall_app in CL. destruct CL as [_ [_ CL]].
  cbn [steps_nan steps_term]. rewrite S.
  assert (NO : forall i w, nan_in (MaybeNan (Is i) w) = if v i =? 1 then Some (value m v w) else None) by reflexivity. rewrite NO. destruct (v (nan (sum_result x)) =? 1); [|reflexivity]. cbn [negb]. f_equal.
  rewrite first_is, ordered_is, one_is. destruct (factors_are ns' ns l F) as [FA FB]. rewrite FA, FB. do 3 f_equal. rewrite map_app. apply (f_equal first_some). apply (f_equal2 (@app (option Z))).
  - rewrite map_map. apply map_ext. intros t. destruct t; reflexivity.
  - clear S FA FB. revert qs OK CL. induction IH as [|t l H IH IHl]; intros qs OK CL; destruct qs as [|q qs]; cbn [go_ok] in OK; try (now destruct t); try reflexivity. cbn [map].
    assert (D : steps_nan r default rule ns' ps c (nan_in cw) t = nan_in (steps_term r default ns cw t q) /\ go_ok ct rule pn cn d l qs = true /\ Forall (holds ct) (go_claims ct rule d l qs)).
    { cbn [go_claims] in CL. destruct t as [k| | |s tl].
      1, 2, 4: apply andb_prop in OK; destruct OK as [O1 O2]; rewrite Forall_app in CL; destruct CL as [C1 C2]; repeat split; auto.
      destruct q as [y|]; [|apply andb_prop in OK; destruct OK as [O1 O2]; discriminate O1]. apply andb_prop in OK. destruct OK as [O1 O2]. rewrite Forall_app in CL. destruct CL as [C1 C2]. repeat split; easy. }
    destruct D as [D1 [D2 D3]]. f_equal; [exact D1|]. exact (IHl qs D2 D3).
Qed.
End Steps.

(** ** Along the first operands *)
Section Trees.
Variables (pn : list number) (cn : number) (ps : list val) (c : val).
Hypothesis PS : Forall2 same_val ps (map (val_in v) pn).
Hypothesis CV : same_val c (val_in v cn).
Let ev := eval_steps Kept ps c.
Let at_ := term_value Kept ps c.
Let ok := tree_ok m Kept pn cn.
Let claims_of := tree_claims m Kept.

Fixpoint tree_spine (t : steps) : list val := match t with Step _ (x :: _) => tree_spine x ++ [ev t] | _ => [] end.

Lemma child_ok d l : forall qs k, go_ok ct Kept pn cn d l qs = true -> Forall (holds ct) (go_claims ct Kept d l qs) -> (k < length l)%nat -> nth k l PlusZero <> PlusZero ->
  forall e, ok (nth k l PlusZero) (nth k qs e) = true /\ Forall (holds ct) (claims_of (nth k l PlusZero) (nth k qs e)).
Proof.
  induction l as [|t l IH]; intros qs k OK CL K N e; [simpl in K; lia|]. cbn [go_ok go_claims] in OK, CL.
  destruct qs as [|q qs]; [now destruct t|].
  assert (D : (t <> PlusZero -> ok t q = true /\ Forall (holds ct) (claims_of t q)) /\ go_ok ct Kept pn cn d l qs = true /\ Forall (holds ct) (go_claims ct Kept d l qs)).
  { destruct t as [i| | |s tl].
    1, 2, 4: apply andb_prop in OK; destruct OK as [O1 O2]; rewrite Forall_app in CL; destruct CL as [C1 C2]; repeat split; auto.
    destruct q as [y|]; [|apply andb_prop in OK; destruct OK as [O1 O2]; discriminate O1]. apply andb_prop in OK. destruct OK as [O1 O2]. rewrite Forall_app in CL. destruct CL as [C1 C2]. repeat split; easy. }
  destruct D as [D1 [D2 D3]]. destruct k as [|k]; cbn [nth] in *; [now apply D1|]. apply IH; auto. simpl in K. lia.
Qed.

Lemma step_parts s l q : ok (Step s l) q = true -> Forall (holds ct) (claims_of (Step s l) q) ->
  exists d x fl qs, s = Stage d /\ q = Sum x fl qs /\ go_ok ct Kept pn cn d l qs = true /\ Forall (holds ct) (go_claims ct Kept d l qs).
Proof.
  unfold ok, claims_of. intros OK CL. destruct s as [d|d' x'], q as [y|x fl qs]; try easy.
  change (summed_ok m d x && numbers_eqb (sum_operands x) (map plan_number qs) && flush_ok m Kept (sum_result x) (flushed_number x fl) && go_ok ct Kept pn cn d l qs = true) in OK.
  change (Forall (holds ct) (summed_claims m d x ++ flush_claims (summed_usual d x) Kept (sum_result x) (flushed_number x fl) ++ go_claims ct Kept d l qs)) in CL.
  rewrite !andb_true_iff in OK. rewrite !Forall_app in CL. exists d, x, fl, qs. tauto.
Qed.

Lemma child_at s l q k : ok (Step s l) q = true -> Forall (holds ct) (claims_of (Step s l) q) -> (k < length l)%nat -> nth k l PlusZero <> PlusZero ->
  ok (nth k l PlusZero) (plan_at k q) = true /\ Forall (holds ct) (claims_of (nth k l PlusZero) (plan_at k q)).
Proof.
  intros OK CL K N. destruct (step_parts s l q OK CL) as [d [x [fl [qs [-> [-> [O C]]]]]]]. unfold plan_at. cbn [operands_of]. now apply (child_ok d l qs k O C K N).
Qed.

Lemma spine_like t : forall q, ok t q = true -> Forall (holds ct) (claims_of t q) -> Forall2 nan_like (tree_spine t) (spine q).
Proof.
  induction t as [k| | |s l IH] using steps_induction; intros q OK CL; destruct q as [y|x fl qs]; try constructor; try (now destruct s); try easy.
  pose proof (tree_sound ct v SOL CIRC Kept pn cn ps c PS CV (Step s l) (Sum x fl qs) OK CL) as [_ S].
  destruct (step_parts s l _ OK CL) as [d [x' [fl' [qs' [-> [Q [O C]]]]]]]. inversion Q; subst x' fl' qs'. clear Q.
  destruct l as [|t l]; destruct qs as [|q qs]; cbn [go_ok] in O; try easy; [constructor|now destruct t|].
  cbn [tree_spine spine]. apply Forall2_app; [|constructor; [exact (nan_same _ _ S)|constructor]].
  inversion IH as [|? ? H _]; subst. cbn [go_claims] in C. destruct t as [k| | |s tl].
  1, 2, 4: apply andb_prop in O; destruct O as [O1 O2]; rewrite Forall_app in C; destruct C as [C1 C2]; now apply H.
  destruct q as [y|]; [constructor|]. apply andb_prop in O. destruct O as [O1 _]. discriminate O1.
Qed.

Lemma spine_chain s ts : forall x, tree_spine (chain_tree s x ts) = tree_spine x ++ chain_results s s (at_ s x) (map (at_ s) ts).
Proof.
  induction ts as [|t ts IH]; intros x; [cbn; now rewrite app_nil_r|]. change (chain_tree s x (t :: ts)) with (chain_tree s (Step s [x; t]) ts). rewrite IH.
  cbn [tree_spine map]. rewrite <- app_assoc. f_equal. unfold ev, at_. rewrite ev_step, at_step. cbn [map app]. unfold chain_results. now destruct (map (term_value Kept ps c s) ts).
Qed.

Lemma spine_last s last ts : forall x, tree_spine (chain_with_last s last x ts) = tree_spine x ++ chain_results s last (at_ last x) (map (at_ last) ts) \/ (exists y, In y (x :: ts) /\ y = PlusZero).
Proof.
  induction ts as [|t ts IH]; intros x; [left; cbn; now rewrite app_nil_r|].
  destruct ts as [|t' ts]. { left. reflexivity. }
  change (chain_with_last s last x (t :: t' :: ts)) with (chain_with_last s last (Step s [x; t]) (t' :: ts)).
  destruct (IH (Step s [x; t])) as [E|[y [[<-|I] Y]]]; [|easy|right; exists y; split; [right; right; exact I|exact Y]].
  assert (Z0 : (x = PlusZero \/ t = PlusZero) \/ (x <> PlusZero /\ t <> PlusZero)) by (destruct x, t; auto; right; split; easy).
  destruct Z0 as [[Z0|Z0]|[X T]]; [subst x; right; exists PlusZero; split; auto; now left|subst t; right; exists PlusZero; split; auto; right; now left|left].
  rewrite E. cbn [tree_spine]. rewrite <- app_assoc. f_equal. unfold ev, at_. rewrite ev_step, at_step. cbn [map app].
  rewrite (at_any ps c s last x X), (at_any ps c s last t T). reflexivity.
Qed.

Lemma sum_nan_swap d x y : Design.is_nan (sum_values d [x; y]) = Design.is_nan (sum_values d [y; x]).
Proof.
  assert (CN : forall c s n u, Design.is_nan (convert c s n u) = false).
  { intros k s n u. unfold convert. destruct (_ || _); [reflexivity|]. destruct (_ <? _); [destruct (is_infinite _ _); reflexivity|reflexivity]. }
  destruct x as [a|[]|], y as [b|[]|]; try reflexivity. unfold sum_values, numbers. cbn [forallb is_num andb]. unfold sum_numbers. now rewrite !CN.
Qed.

Theorem block_term_is how t q ns' ns cw : tree_for how (length pn) = Some t -> nan_sums how (length pn) = true -> ok t q = true -> Forall (holds ct) (claims_of t q) ->
  Forall2 nans_like ns' ns -> length ns = length pn -> match r with OneWord | ProductsThenC _ => False | _ => True end ->
  value m v (block_term r default how ns pn cw q) = block_nan how r default ns' ps c (nan_in cw).
Proof.
  intros TF NS OK CL NL LN RR. assert (LP : length ps = length pn) by (rewrite <- (map_length (val_in v) pn); clear -PS; induction PS; simpl; auto).
  assert (PN : Forall2 nan_like ps pn).
  { clear -PS. remember (map (val_in v) pn) as l eqn:E. revert pn E. induction PS as [|a b la lb H F IH]; intros [|z zs] E; inversion E; subst; constructor; [now apply nan_same|now apply IH]. }
  assert (BN : block_nan how r default ns' ps c (nan_in cw) = match how with
      | CLast Together s _ =>
          let both := [hd NaN ps; add s ps] in
          otherwise default (first_some [chain_nan r default None (combine ns' both); nan_in cw])
      | CLast TwoChains s _ =>
          let side {A} (l : list A) := (evens l, odds l) in
          let chain n p := chain_nan r default None (combine n (results_from_zero s p)) in
          otherwise default (first_some [nan_in cw; chain (evens ns') (evens ps); chain (odds ns') (odds ps)])
      | CLast PairChains s _ =>
          let zero := zero_of (stage_rounding s) in
          otherwise default (first_some [nan_in cw; pairs_nan default s zero (combine ns' ps); pairs_nan default s zero (tl (tl (combine ns' ps)))])
      | FromC s last => otherwise default (chain_nan r default (nan_in cw) (combine ns' (chain_results s last c ps)))
      | OneSum s => otherwise default (chain_nan r default (nan_in cw) (combine ns' (chain_results s s c ps)))
      | _ => default
      end) by (destruct r; try easy; reflexivity).
  rewrite BN. clear BN RR.
  assert (AP : forall s, map (at_ s) (product_steps (length pn)) = ps) by (intros s; unfold at_; rewrite <- LP; apply products_at).
  assert (F1 : forall o, first_some [o] = o) by (now intros [z|]).
  assert (GL : forall w l, Forall2 nan_like [w] l -> exists z, l = [z] /\ nan_like w z) by (intros w l F; inversion F as [|? ? ? ? A B]; inversion B; subst; eauto).
  assert (GP : forall w w' l, Forall2 nan_like [w; w'] l -> exists z k, l = z :: k /\ nan_like w z) by (intros w w' l F; inversion F; subst; eauto).
  assert (EO : forall A B (R : A -> B -> Prop) l k, Forall2 R l k -> Forall2 R (evens l) (evens k) /\ Forall2 R (odds l) (odds k)).
  { intros A B R. assert (G : forall n l k, (length l <= n)%nat -> Forall2 R l k -> Forall2 R (every_second l) (every_second k)).
    { induction n as [|n IH]; intros l k L F; [destruct l; [|simpl in L; lia]; inversion F; constructor|]. destruct F as [|x y l k H F]; [constructor|]. destruct F as [|x' y' l k H' F]; [now repeat constructor|].
      cbn [every_second]. constructor; auto. apply IH; auto. simpl in L. lia. }
    intros l k F. split; [apply (G (length l)); auto|]. unfold odds. apply (G (length (tl l))); auto. destruct F; [constructor|assumption]. }
  destruct how; cbn [nan_sums] in NS; try easy.
  - (* one product and c *)
    apply Nat.eqb_eq in NS. cbn [tree_for] in TF. inversion TF; subst t. cbn [block_term]. rewrite first_is. cbn [map]. rewrite F1. f_equal.
    rewrite <- (chain_is (combine ns' (chain_results d d c ps)) (combine ns (spine q))); [reflexivity|]. apply combine_like; auto.
    pose proof (spine_like _ q OK CL) as SL. destruct (step_parts _ _ _ OK CL) as [e [? [? [? [DE _]]]]].
    assert (P1 : forall l : list val, length l = 1%nat -> exists z, l = [z]) by (intros [|? [|]] L; try (simpl in L; lia); eauto). destruct (P1 ps ltac:(lia)) as [p PX].
    rewrite NS in SL. cbn [product_steps seq map app tree_spine] in SL. unfold ev in SL. rewrite ev_step in SL. cbn [map] in SL. unfold term_value in SL. cbn [eval_steps] in SL. rewrite PX in SL |- *. cbn [nth] in SL.
    destruct (GL _ _ SL) as [y [SY S1]]. rewrite SY. cbn [chain_results]. constructor; [|constructor].
    unfold nan_like in S1 |- *. rewrite <- S1, DE. cbn [add]. apply sum_nan_swap.
  - (* from c *)
    cbn [tree_for] in TF. inversion TF; subst t. cbn [block_term]. rewrite first_is. cbn [map]. rewrite F1. f_equal.
    rewrite <- (chain_is (combine ns' (chain_results step last c ps)) (combine ns (spine q))); [reflexivity|]. apply combine_like; auto.
    pose proof (spine_like _ q OK CL) as SL. destruct (spine_last step last (product_steps (length pn)) C) as [E|[y [[<-|I] Y]]]; [|easy|exfalso; exact (products_some _ _ I Y)].
    rewrite E in SL. cbn [tree_spine app] in SL. rewrite AP in SL. exact SL.
  - destruct how; cbn [nan_sums] in NS; try easy; cbn [tree_for] in TF.
    + (* together *)
      apply Nat.eqb_eq in NS. inversion TF; subst t. destruct (child_at _ _ _ 0%nat OK CL ltac:(simpl; lia) ltac:(easy)) as [O1 C1]. cbn [nth] in O1, C1.
      cbn [block_term]. rewrite first_is. cbn [map first_some]. do 2 f_equal. cbn zeta.
      assert (X : chain_nan r default None (combine ns' [hd NaN ps; add step ps]) = nan_in (chain_term r default no_nan (combine ns (firstn 1 pn ++ spine (plan_at 0 q))))); [|now rewrite X].
      rewrite <- (chain_is (combine ns' [hd NaN ps; add step ps])); [reflexivity|]. apply combine_like; auto.
      pose proof (spine_like _ _ O1 C1) as SL. assert (EV : ev (Step step (product_steps (length pn))) = add step ps) by (unfold ev; rewrite ev_step; f_equal; apply AP).
      rewrite NS in SL at 1. unfold tree_spine in SL. cbn [product_steps seq map] in SL. rewrite NS in EV. cbn [product_steps seq map] in EV. rewrite EV in SL. cbn [app] in SL.
      assert (P2 : forall l : list val, length l = 2%nat -> exists z z', l = [z; z']) by (intros [|? [|? [|]]] L; try (simpl in L; lia); eauto).
      destruct (P2 ps ltac:(lia)) as [p0 [p1 PX]]. rewrite PX in PN. destruct (GP _ _ _ PN) as [n0 [k [NQ N0]]]. rewrite NQ. cbn [firstn app]. constructor; [rewrite PX; exact N0|exact SL].
    + (* two chains *)
      destruct (2 <=? length pn)%nat eqn:K2; [|easy]. apply Nat.leb_le in K2. inversion TF; subst t. destruct (child_at _ _ _ 0%nat OK CL ltac:(simpl; lia) ltac:(easy)) as [O1 C1]. cbn [nth] in O1, C1.
      unfold two_chains_tree in O1, C1.
      assert (NE : chain_tree step PlusZero (evens (product_steps (length pn))) <> PlusZero /\ chain_tree step PlusZero (odds (product_steps (length pn))) <> PlusZero).
      { destruct pn as [|n0 [|n1 l]]; try (simpl in K2; lia). cbn [length product_steps seq map]. unfold evens, odds. cbn [tl every_second]. split.
        - change (chain_tree step (Step step [PlusZero; Product 0]) (every_second (map Product (seq 2 (length l)))) <> PlusZero). now apply chain_some.
        - destruct l as [|n2 l]; cbn [length seq map every_second]; [easy|]. change (chain_tree step (Step step [PlusZero; Product 1]) (every_second (map Product (seq 3 (length l)))) <> PlusZero). now apply chain_some. }
      destruct NE as [NE NO]. destruct (child_at _ _ _ 0%nat O1 C1 ltac:(simpl; lia) NE) as [O2 C2]. destruct (child_at _ _ _ 1%nat O1 C1 ltac:(simpl; lia) NO) as [O3 C3]. cbn [nth] in O2, C2, O3, C3.
      pose proof (spine_like _ _ O2 C2) as S2. pose proof (spine_like _ _ O3 C3) as S3. rewrite spine_chain in S2, S3. cbn [tree_spine app] in S2, S3.
      unfold evens in S2. unfold odds in S3. rewrite every_second_map, AP in S2. rewrite every_second_map in S3.
      assert (TL : map (at_ step) (tl (product_steps (length pn))) = tl ps) by (transitivity (tl (map (at_ step) (product_steps (length pn)))); [now destruct (product_steps (length pn))|now rewrite AP]). rewrite TL in S3.
      destruct (EO _ _ _ _ _ NL) as [NL1 NL2].
      cbn [block_term]. rewrite first_is. cbn [map]. cbn zeta.
      rewrite <- (chain_is (combine (evens ns') (results_from_zero step (evens ps)))), <- (chain_is (combine (odds ns') (results_from_zero step (odds ps)))); [reflexivity| |]; apply combine_like; auto.
    + (* chains of pairs *)
      destruct (4 <=? length pn)%nat eqn:K4; [|easy]. apply Nat.leb_le in K4. inversion TF; subst t. destruct (child_at _ _ _ 0%nat OK CL ltac:(simpl; lia) ltac:(easy)) as [O1 C1]. cbn [nth] in O1, C1.
      unfold two_chains_tree in O1, C1. set (prs := pair_trees step (product_steps (length pn))) in *.
      assert (NE : chain_tree step PlusZero (evens prs) <> PlusZero /\ chain_tree step PlusZero (odds prs) <> PlusZero).
      { unfold prs. destruct pn as [|n0 [|n1 [|n2 [|n3 l]]]]; try (simpl in K4; lia). cbn [length product_steps seq map pair_trees]. unfold evens, odds. cbn [tl every_second]. split.
        - change (chain_tree step (Step step [PlusZero; Step step [Product 0; Product 1]]) (every_second (pair_trees step (map Product (seq 4 (length l))))) <> PlusZero). now apply chain_some.
        - destruct (pair_trees step (map Product (seq 4 (length l)))) as [|t0 tr]; cbn [every_second]; [easy|]. change (chain_tree step (Step step [PlusZero; Step step [Product 2; Product 3]]) (every_second tr) <> PlusZero). now apply chain_some. }
      destruct NE as [NE NO]. destruct (child_at _ _ _ 0%nat O1 C1 ltac:(simpl; lia) NE) as [O2 C2]. destruct (child_at _ _ _ 1%nat O1 C1 ltac:(simpl; lia) NO) as [O3 C3]. cbn [nth] in O2, C2, O3, C3.
      pose proof (spine_like _ _ O2 C2) as S2. pose proof (spine_like _ _ O3 C3) as S3. rewrite spine_chain in S2, S3. cbn [tree_spine app] in S2, S3.
      unfold evens in S2. unfold odds in S3. rewrite every_second_map in S2, S3.
      assert (PR : map (at_ step) prs = add_pairs step ps) by (unfold prs, at_; rewrite pairs_at; f_equal; apply AP).
      assert (TL : map (at_ step) (tl prs) = tl (add_pairs step ps)) by (transitivity (tl (map (at_ step) prs)); [now destruct prs|now rewrite PR]). rewrite PR in S2. rewrite TL in S3.
      assert (EV : Nat.even (length ps) = true). { rewrite LP. apply Nat.eqb_eq in NS. rewrite (Nat.div_mod (length pn) 4) by lia. rewrite NS, Nat.add_0_r, Nat.even_mul. reflexivity. }
      rewrite (chain_of_pairs step (length ps)) in S2 by auto.
      assert (T2 : tl (add_pairs step ps) = add_pairs step (tl (tl ps))).
      { assert (G : forall l, (2 <= length l)%nat -> tl (add_pairs step l) = add_pairs step (tl (tl l))) by (intros [|a [|b l]] L; try (simpl in L; lia); reflexivity). apply G. lia. } rewrite T2 in S3.
      assert (EV2 : Nat.even (length (tl (tl ps))) = true).
      { assert (G : forall l : list val, Nat.even (length l) = true -> Nat.even (length (tl (tl l))) = true) by (intros [|a [|b l]] L; auto). now apply G. } rewrite (chain_of_pairs step (length (tl (tl ps)))) in S3 by auto.
      assert (LE : length ns' = length ps) by (rewrite LP, <- LN; clear -NL; induction NL; simpl; auto).
      assert (MS : map snd (combine ns' ps) = ps).
      { assert (G : forall (l : list (option Z * option Z)) (k : list val), length l = length k -> map snd (combine l k) = k) by (clear; induction l as [|x l IH]; intros [|p k] L; try easy; cbn; f_equal; apply IH; simpl in L; lia). now apply G. }
      assert (MT : map snd (tl (tl (combine ns' ps))) = tl (tl ps)) by (rewrite <- MS at 2; destruct (combine ns' ps) as [|x [|y l]]; reflexivity).
      assert (CO : Forall2 step_like (combine ns' ps) (combine ns pn)) by (now apply combine_like).
      assert (CT : Forall2 step_like (tl (tl (combine ns' ps))) (tl (tl (combine ns pn)))) by (destruct CO as [|? ? ? ? ? CO']; [constructor|]; destruct CO'; [constructor|assumption]).
      cbn [block_term]. rewrite first_is. cbn [map]. cbn zeta.
      rewrite <- (pairs_is step (length (combine ns' ps)) (combine ns' ps) (combine ns pn) (zero_of (stage_rounding step))); [|auto|exact CO|rewrite MS; exact S2].
      rewrite <- (pairs_is step (length (tl (tl (combine ns' ps)))) (tl (tl (combine ns' ps))) (tl (tl (combine ns pn))) (zero_of (stage_rounding step))); [reflexivity|auto|exact CT|rewrite MT; exact S3].
Qed.
End Trees.
End Sound.
