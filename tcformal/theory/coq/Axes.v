(** Designs that differ in a parameter that never matters are one function of words: the general lemma, and one theorem an
    axis. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror.
Import ListNotations.
Open Scope Z_scope.

(** * Two designs that give the same on every block *)

(** The same formats, scales, length of blocks and calls; only sums, factors, order may differ. *)
Definition same_frame (d d' : design) : Prop :=
  c_format d' = c_format d /\ d_format d' = d_format d /\ scales d' = scales d /\ composed d' = composed d /\ block d' = block d /\
  nan_word d' = nan_word d /\ nans d' = nans d /\ skips d' = skips d.

Section Alike.
Variables d d' : design.
Variable C : val -> Prop.
Hypothesis Fr : same_frame d d'.
Hypothesis B : (0 < block d)%nat.
Hypothesis E : forall b v, (length b <= block d)%nat -> Forall (made_by d) b -> C v ->
  block_value d' v b = block_value d v b /\ C (block_value d v b).

Lemma values_alike xs v : Forall (made_by d) xs -> C v -> values d' xs v = values d xs v /\ C (values d xs v).
Proof.
  intros F Cv. destruct Fr as [_ [_ [_ [_ [Eb _]]]]]. unfold values. rewrite Eb.
  pose proof (cut_list_blocks (made_by d) (block d) B (length xs) xs F) as G. revert v Cv.
  induction G as [|b r [Lb Hb] G IH]; intros v Cv; [auto|]. cbn [fold_left]. destruct (E b v Lb Hb Cv) as [Q K]. rewrite Q. now apply IH.
Qed.

Lemma parts_alike xs ks : (scales d = None) -> Forall (made_by d) xs -> forall v, C v -> parts_value d' xs ks v = parts_value d xs ks v.
Proof.
  intros S F. unfold parts_value. induction ks as [|k r IH]; intros v Cv; [reflexivity|]. cbn [fold_left].
  assert (M : Forall (made_by d) (map (at_k xs) k)).
  { apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- _]]. apply at_k_made; auto. }
  destruct (values_alike _ v M Cv) as [Q K]. rewrite Q. now apply IH.
Qed.

Theorem compute_alike w : one_nan d = true -> parts_ok d = true -> C (decode (start_format d) (match composed d with None => c_word w | Some _ => 0 end)) ->
  pairs w <> [] -> compute d' w = compute d w.
Proof.
  intros ON PO Cs N. pose proof Fr as [Ec [Ed [Es [Ek [Eb [En [Er Ew]]]]]]].
  assert (ON' : one_nan d' = true) by (unfold one_nan in *; now rewrite Ek, Er, Ew).
  rewrite !compute_word by auto. assert (T : the_nan d' = the_nan d) by (unfold the_nan; now rewrite Ek, En). rewrite T, Ed. f_equal.
  unfold value. assert (X : elements d' w = elements d w) by (unfold elements; now rewrite Es). rewrite X, Ek, Ec, ?Ed. pose proof (elements_made d w) as F.
  unfold start_format, parts_ok in *. destruct (composed d) as [how|].
  - do 3 f_equal. rewrite parts_alike; auto. now destruct (scales d).
  - now apply values_alike.
Qed.
End Alike.

(** * Two designs of which every step is the same *)

(** Sums whose NaNs do not depend on an order of steps. *)
Definition other_kind (how : summation) : bool :=
  match how with StickySum _ | JammedSum _ | Framed _ | RoundedDown _ | CAfter _ _ => true | _ => false end.

Section EveryStep.
Variables d d' : design.
Variable C : val -> Prop.
Hypothesis Fr : same_frame d d'.
Hypothesis B : (0 < block d)%nat.
Hypothesis E : forall st b, (length b <= block d)%nat -> Forall (made_by d) b -> C (fst st) ->
  block_step d' st b = block_step d st b /\ C (fst (block_step d st b)).

Theorem steps_alike w : composed d = None -> C (decode (c_format d) (c_word w)) -> compute d' w = compute d w.
Proof.
  intros Co Cs. destruct Fr as [Ec [Ed [Es [Ek [Eb [_ [Er _]]]]]]]. unfold compute. rewrite Ek, Co.
  assert (X : elements d' w = elements d w) by (unfold elements; now rewrite Es).
  assert (S : start_of d' (c_word w) = start_of d (c_word w)) by (unfold start_of; now rewrite Ec, Ed, Er).
  assert (H : blocks d' (elements d w) (start_of d (c_word w)) = blocks d (elements d w) (start_of d (c_word w))); [|now rewrite X, S, H, Ed].
  unfold blocks. rewrite Eb.
  pose proof (cut_list_blocks (made_by d) (block d) B (length (elements d w)) (elements d w) (elements_made d w)) as G.
  assert (Cf : C (fst (start_of d (c_word w)))) by exact Cs. revert Cf. generalize (start_of d (c_word w)) as st.
  induction G as [|b r [Lb Hb] G IH]; intros st Cf; [reflexivity|]. cbn [fold_left]. destruct (E st b Lb Hb Cf) as [Q K]. rewrite Q. now apply IH.
Qed.
End EveryStep.

(** What the word of a NaN depends on. *)
Definition other_nan (r : nan_rule) (default : Z) (ns : list (option Z * option Z)) (ps : list val) (cw : option Z) : Z :=
  let has (o : option Z) := match o with Some _ => true | None => false end in
  match r with
  | ProductsThenC w =>
      if existsb (fun n => has (fst n) || has (snd n)) ns then w else
      if negb (forallb is_num ps) && is_nan (special_sum ps) then default else otherwise default cw
  | _ => default
  end.

Lemma other_block_nan how r default ns ps c cw : other_kind how = true -> block_nan how r default ns ps c cw = other_nan r default ns ps cw.
Proof. intros O. unfold block_nan, other_nan. destruct r; auto; now destruct how. Qed.


Lemma other_nan_perm r default ns ns' ps ps' cw : Permutation ns ns' -> Permutation ps ps' ->
  other_nan r default ns ps cw = other_nan r default ns' ps' cw.
Proof. intros N P. unfold other_nan. destruct r; auto. now rewrite (existsb_perm _ _ _ N), (forallb_perm _ _ _ P), (special_perm _ _ P). Qed.

(** The same formats of factors and rule for c, and the same value of a block. *)
Lemma other_step d d' v n b : other_kind (sums d) = true -> other_kind (sums d') = true -> same_frame d d' ->
  a_format d' = a_format d -> b_format d' = b_format d -> c_rule d' = c_rule d -> zero_terms (factors d') = zero_terms (factors d) ->
  Permutation (fst (terms d' (ordered d' b))) (fst (terms d (ordered d b))) -> block_value d' v b = block_value d v b ->
  block_step d' (v, n) b = block_step d (v, n) b.
Proof.
  intros O O' [_ [Ed [_ [_ [_ [En [Er Ew]]]]]]] Fa Fb Fc Fz P V.
  assert (S : skipped d' b = skipped d b) by (unfold skipped; now rewrite Ew).
  pose proof (block_step_value d v n b) as V1. pose proof (block_step_value d' v n b) as V2. rewrite V in V2. rewrite <- V1 in V2.
  unfold block_step in *. fold (skipped d b) in *. fold (skipped d' b) in *. rewrite S in *. destruct (skipped d b); [reflexivity|].
  fold (ordered d b) in *. fold (ordered d' b) in *. destruct (terms d (ordered d b)) as [ps e]. destruct (terms d' (ordered d' b)) as [ps' e']. cbn [fst] in P.
  cbn [fst] in V2. rewrite V2. f_equal. destruct (negb (is_nan _)); auto. rewrite Er, En, Fa, Fb, Ed, Fc, Fz.
  assert (Q : Permutation (ordered d' b) (ordered d b)).
  { unfold ordered. destruct (odd_first d'), (odd_first d); auto using Permutation_refl, swapped_perm, Permutation_sym. }
  assert (N : forall cw, other_nan (nans d) (nan_word d) (map (fun x => (nan_of (a_format d) (d_format d) (a_word x), nan_of (b_format d) (d_format d) (b_word x))) (ordered d' b)) ps' cw =
    other_nan (nans d) (nan_word d) (map (fun x => (nan_of (a_format d) (d_format d) (a_word x), nan_of (b_format d) (d_format d) (b_word x))) (ordered d b)) ps cw)
    by (intros; apply other_nan_perm; auto using Permutation_map).
  destruct (sums d) eqn:Sd, (sums d') eqn:Sd'; try easy; destruct (nans d); auto; rewrite !other_block_nan by auto; apply N.
Qed.

(** * The order of the two products of a pair *)

Definition with_order (d : design) (o : bool) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := o;
     skips := skips d; c_rule := c_rule d; sums := sums d; nan_word := nan_word d; nans := nans d; composed := composed d |}.

Definition pairs_free (d : design) : bool :=
  at_once (sums d) && match cutting_of d with Groups _ => false | _ => true end && eqb (odd_negated (factors d)) (even_negated (factors d)) &&
  (one_nan d && parts_ok d || other_kind (sums d) && match composed d with None => true | _ => false end) && (0 <? Z.of_nat (block d)).

Theorem pair_order_idle d w : pairs_free d = true -> pairs w <> [] -> compute d w = compute (with_order d false) w.
Proof.
  intros O N. unfold pairs_free in O. repeat rewrite andb_true_iff in O. destruct O as [[[[A W] Od] ON] B].
  apply eqb_prop in Od. apply Z.ltb_lt in B. symmetry. set (d' := with_order d false).
  assert (P : forall b, Permutation (fst (terms d' (ordered d' b))) (fst (terms d (ordered d b))) /\ snd (terms d' (ordered d' b)) = snd (terms d (ordered d b))).
  { intros b. change (terms d') with (terms d). change (ordered d' b) with b.
    assert (R : reordered d b (ordered d b)).
    { unfold reordered, same_factors. destruct (cutting_of d); try easy; apply Permutation_map, Permutation_sym; unfold ordered; destruct (odd_first d); auto using swapped_perm. }
    unfold ordered. destruct (odd_first d) eqn:Of; [|auto].
    pose proof (terms_perm d' ltac:(cbn; congruence) b (swapped b)) as T. unfold ordered in T. cbn [odd_first d' with_order] in T. apply T.
    - cbn. now destruct (cutting_of d).
    - unfold ordered in R. rewrite Of in R. exact R. }
  assert (V : forall b v, block_value d' v b = block_value d v b).
  { intros b v. unfold block_value. change (skipped d' b) with (skipped d b). destruct (skipped d b); auto. destruct (P b) as [P1 P2]. rewrite P2.
    change (sums d') with (sums d). change (c_rule d') with (c_rule d). change (taken_c d' v) with (taken_c d v). now apply block_sum_perm. }
  apply orb_prop in ON. destruct ON as [ON|ON]; apply andb_prop in ON; destruct ON as [ON PO].
  - apply (compute_alike d d' (fun _ => True)); auto; [repeat split|lia].
  - apply (steps_alike d d' (fun _ => True)); auto; [repeat split|lia| |now destruct (composed d)].
    intros [v n] b _ _ _. split; auto. apply other_step; auto; [repeat split|now apply P].
Qed.

(** * Stages that give the same sums *)

Fixpoint map_steps (g : stage -> stage) (t : steps) : steps :=
  match t with Step s l => Step (g s) (map (map_steps g) l) | _ => t end.

Definition map_stages (g : stage -> stage) (how : summation) : summation :=
  match how with
  | OneSum s => OneSum (g s)
  | FromC s l => FromC (g s) (g l)
  | CLast i s l => CLast i (g s) (g l)
  | InSteps t => InSteps (map_steps g t)
  | _ => how
  end.

Definition with_sums (d : design) (how : summation) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := how; nan_word := nan_word d; nans := nans d; composed := composed d |}.

Definition with_rule (d : design) (r : flush_rule) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := r; sums := sums d; nan_word := nan_word d; nans := nans d; composed := composed d |}.

Section Stages.
Variable g : stage -> stage.
Hypothesis Ga : forall e s vs, add_from e (g s) vs = add_from e s vs.
Hypothesis Gz : forall s, zero_of (stage_rounding (g s)) = zero_of (stage_rounding s).
Hypothesis Gm : forall s, rounding_mode (stage_rounding (g s)) = rounding_mode (stage_rounding s).

Lemma add_map s vs : add (g s) vs = add s vs.
Proof. exact (Ga None s vs). Qed.

Lemma chain_of_map s x ps : chain_of (g s) x ps = chain_of s x ps.
Proof. unfold chain_of. revert x. induction ps as [|p r IH]; intros x; auto. cbn [fold_left]. now rewrite add_map, IH. Qed.

Lemma chain_results_map s l ps : forall x, chain_results (g s) (g l) x ps = chain_results s l x ps.
Proof.
  unfold chain_results. induction ps as [|p r IH]; intros x; auto. destruct r as [|q r]; [now rewrite add_map|].
  rewrite add_map. f_equal. apply IH.
Qed.

Lemma add_pairs_map s l : add_pairs (g s) l = add_pairs s l.
Proof.
  assert (G : forall n l, (length l <= n)%nat -> add_pairs (g s) l = add_pairs s l).
  { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; auto; cbn in *; try lia. rewrite add_map, IH; auto. lia. }
  eapply G; eauto.
Qed.

Lemma pairwise_map s n : forall l, pairwise n (g s) l = pairwise n s l.
Proof. induction n as [|n IH]; intros [|x [|y r]]; cbn [pairwise]; rewrite ?add_map, ?add_pairs_map, ?IH; auto. Qed.

Lemma two_chains_map s l : two_chains (g s) l = two_chains s l.
Proof. unfold two_chains. now rewrite add_map, Gz, !chain_of_map. Qed.

Lemma inner_map i s e l : inner_sum i (g s) e l = inner_sum i s e l.
Proof.
  destruct i; cbn [inner_sum]; rewrite ?Ga, ?two_chains_map, ?add_pairs_map, ?pairwise_map, ?Gz; auto.
  destruct l; rewrite ?Gz, ?chain_of_map; auto.
Qed.

Lemma steps_map r ps c t : eval_steps r ps c (map_steps g t) = eval_steps r ps c t.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; auto. cbn [map_steps eval_steps]. rewrite add_map, map_map. f_equal.
  induction IH as [|x l Hx IH IHl]; cbn [map]; auto. rewrite IHl. f_equal. destruct x; auto; cbn [map_steps] in *; [|now rewrite Hx]. now rewrite Gz.
Qed.

Lemma block_sum_map how r e fs ps c : block_sum (map_stages g how) r e fs ps c = block_sum how r e fs ps c.
Proof.
  destruct how; cbn [map_stages block_sum]; auto.
  - now rewrite chain_results_map.
  - now rewrite add_map, inner_map.
  - apply steps_map.
Qed.

Theorem stages_alike d w : one_nan d = true -> parts_ok d = true -> (0 <? Z.of_nat (block d)) = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (map_stages g (sums d))) w.
Proof.
  intros ON PO B N. symmetry. apply (compute_alike d (with_sums d (map_stages g (sums d))) (fun _ => True)); auto; [repeat split|lia|].
  intros b v _ _ _. split; auto. unfold block_value. set (d' := with_sums d (map_stages g (sums d))).
  change (skipped d' b) with (skipped d b). destruct (skipped d b); auto.
  change (taken_c d' v) with (taken_c d v). change (ordered d' b) with (ordered d b). change (c_rule d') with (c_rule d).
  assert (T : terms d' (ordered d b) = terms d (ordered d b)).
  { unfold terms. change (cutting_of d') with (cutting_of d). destruct (cutting_of d); auto.
    assert (M : match sums d' with OneSum s | CLast _ s _ => rounding_mode (stage_rounding s) | _ => RNE end =
                match sums d with OneSum s | CLast _ s _ => rounding_mode (stage_rounding s) | _ => RNE end).
    { unfold d'. cbn [sums with_sums]. destruct (sums d); cbn [map_stages]; auto. }
    rewrite M. reflexivity. }
  rewrite T. change (sums d') with (map_stages g (sums d)). rewrite block_sum_map.
  assert (W : whole_factors d' (ordered d b) = whole_factors d (ordered d b)).
  { unfold whole_factors. change (sums d') with (map_stages g (sums d)). destruct (sums d); reflexivity. }
  now rewrite W.
Qed.
End Stages.

(** * Overflow of roundings to nearest *)

Definition with_out (s : sum) (c : conversion) : sum :=
  {| fraction_bits := fraction_bits s; alignment := alignment s; zero_exponent := zero_exponent s; carry_bits := carry_bits s;
     normalise := normalise s; out := c |}.

Definition with_overflow (c : conversion) (o : overflow_rule) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := o; flushes := flushes c; tiny := tiny c; zsign := zsign c |}.

(** An infinity, where the rule says that of every number that is too large. *)
Definition plain_overflow (c : conversion) : conversion := if always_infinite c then with_overflow c Infinite else c.

Lemma plain_overflow_same c s n u : convert (plain_overflow c) s n u = convert c s n u.
Proof.
  unfold plain_overflow. destruct (always_infinite c) eqn:A; auto. unfold convert.
  assert (I : is_infinite c n = true).
  { unfold always_infinite in A. unfold is_infinite. destruct (overflow c), (rho c); easy. }
  rewrite I. unfold is_infinite, with_overflow, last_bit, is_tiny. cbn [overflow rho p emin emax flushes tiny zsign]. reflexivity.
Qed.

Definition plain_stage (s : stage) : stage :=
  match s with Stage d => Stage (with_out d (plain_overflow (out d))) | FixedStage d x => FixedStage (with_out d (plain_overflow (out d))) x end.

Lemma plain_rho c : rho (plain_overflow c) = rho c.
Proof. unfold plain_overflow. now destruct (always_infinite c). Qed.

Definition overflow_free (d : design) : bool := one_nan d && parts_ok d && (0 <? Z.of_nat (block d)).

Theorem overflow_idle d w : overflow_free d = true -> pairs w <> [] -> compute d w = compute (with_sums d (map_stages plain_stage (sums d))) w.
Proof.
  intros O N. unfold overflow_free in O. repeat rewrite andb_true_iff in O. destruct O as [[ON PO] B].
  apply stages_alike; auto.
  - intros e s vs. destruct s as [s|s x], e as [e|]; cbn [add_from add plain_stage stage_rounding]; auto.
    + unfold on_numbers. destruct (numbers vs); auto. cbv zeta. unfold sum_at. cbn [stage_rounding rounding_mode round_to out with_out]. now rewrite plain_overflow_same, plain_rho.
    + unfold sum_values. destruct (numbers vs); auto. unfold sum_numbers. cbn [out with_out]. now rewrite plain_overflow_same, plain_rho.
  - intros [s|s x]; cbn [plain_stage stage_rounding zero_of with_out out]; auto. unfold plain_overflow. now destruct (always_infinite (out s)).
  - intros [s|s x]; cbn [plain_stage stage_rounding rounding_mode with_out out]; auto using plain_rho.
Qed.
