(** A result does not fall where c rises: of every design whose sums are exact and then rounded, in any order. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact.
Import ListNotations.
Open Scope R_scope.

(** Of two values, where both are numbers, the second is no less. *)
Definition rises (v w : val) : Prop := forall x y, v = Num x -> w = Num y -> V x <= V y.

Lemma rises_refl v : rises v v.
Proof. intros x y E E'. rewrite E in E'. injection E' as <-. lra. Qed.

Lemma add_rises s vs ws : exact_stage s = true -> Forall2 rises vs ws -> rises (add s vs) (add s ws).
Proof.
  intros X H x y E E'. destruct s as [d|]; [|easy]. cbn [exact_stage add] in *.
  destruct (sum_values_inv _ _ _ E) as [ts Q]. destruct (sum_values_inv _ _ _ E') as [us Q']. rewrite Q, sum_values_num in E. rewrite Q', sum_values_num in E'.
  rewrite (exact_node_value _ _ _ X E), (exact_node_value _ _ _ X E'). apply flushed_rnd_le.
  - unfold exact_node, monotone_conv in X. destruct (fraction_bits d), (carry_bits d); try easy. apply andb_prop in X. lia.
  - apply exact_sum_le. subst vs ws. clear E E'. revert us H. induction ts as [|t r IH]; intros us H; destruct us as [|u l]; inversion H; subst; constructor; auto.
Qed.

Lemma chain_results_rises s l ps qs : exact_stage s = true -> exact_stage l = true -> Forall2 rises ps qs ->
  forall c c', rises c c' -> Forall2 rises (chain_results s l c ps) (chain_results s l c' qs).
Proof.
  intros Ms Ml H. induction H as [|v w ps qs Hv H IH]; intros c c' Hc; cbn; [constructor|].
  destruct H as [|v' w' ps qs Hv' H].
  - constructor; [apply add_rises; auto|constructor].
  - constructor; [apply add_rises; auto|]. apply IH. apply add_rises; auto.
Qed.


Lemma steps_rises r n ps c c' t : steps_good r n t = true -> Forall (fun s => (emin (stage_out s) <= emax (stage_out s))%Z) (stages t) -> rises c c' ->
  rises (eval_steps r ps c t) (eval_steps r ps c' t).
Proof.
  intros G Em Hc. revert G Em. induction t as [k| | |s l IH] using steps_ind'; intros G Em; cbn [eval_steps]; auto using rises_refl.
  cbn [steps_good stages] in G, Em. apply andb_prop in G. destruct G as [Gs Gl]. apply Forall_cons_iff in Em. destruct Em as [_ El]. apply add_rises; auto.
  induction IH as [|x l Hx IH IHl]; cbn [map]; [constructor|]. cbn [forallb map concat] in Gl, El. apply andb_prop in Gl. destruct Gl as [Gx Gl].
  apply Forall_app in El. destruct El as [Ex El]. constructor; [|now apply IHl]. apply andb_prop in Gx. destruct Gx as [Gx Gq].
  destruct x as [k| | |s' l']; auto using rises_refl.
  specialize (Hx Gx Ex). cbn [steps_good] in Gx. apply andb_prop in Gx. destruct Gx as [Gx _]. cbn [stages] in Ex. apply Forall_cons_iff in Ex. destruct Ex as [Ex _].
  assert (Fl : forall c0, flush r (eval_steps r ps c0 (Step s' l')) = eval_steps r ps c0 (Step s' l')).
  { intros c0. cbn [eval_steps]. match goal with |- flush r (add s' ?vs) = _ => destruct (quiet_flush r s' vs Gx Ex Gq) as [v [V1 V2]]; congruence end. }
  rewrite !Fl. exact Hx.
Qed.

Lemma refl_2 l : Forall2 rises l l.
Proof. induction l; constructor; auto using rises_refl. Qed.

Lemma block_rises how r n fs ps c c' : block_good how r n = true -> rises c c' ->
  rises (block_sum how r None fs ps c) (block_sum how r None fs ps c').
Proof.
  intros B Hc. unfold block_good in B. repeat rewrite andb_true_iff in B. destruct B as [[[N E] X] L].
  destruct how as [s| | | | | |s l|i s l|t]; try easy; cbn [block_sum add_from block_stages] in *.
  - apply add_rises; auto. apply Forall2_app; auto using refl_2.
  - apply andb_prop in X. destruct X. apply last_2; auto. apply chain_results_rises; auto using refl_2.
  - apply andb_prop in X. destruct X. apply add_rises; auto. constructor; auto using rises_refl.
  - apply andb_prop in X. destruct X as [X _]. apply steps_rises with n; auto.
    apply Forall_forall. intros s Hs. rewrite forallb_forall in E. specialize (E s Hs). lia.
Qed.

(** c <= c' implies d <= d', for the same factors and any number of blocks; c as the sum takes it. *)
Theorem monotone_in_c d w w' : rounded_ok d = true -> pairs w <> [] -> pairs w = pairs w' -> scale_words w = scale_words w' ->
  rises (first_c d w) (first_c d w') -> rises (value d w) (value d w').
Proof.
  intros O N Ep Es Hc. destruct (in_turn_first d w O) as [T|T]; [|easy]. destruct (in_turn_first d w' O) as [T'|T']; [|congruence].
  rewrite T, T'. assert (E : elements d w = elements d w') by (unfold elements; now rewrite Ep, Es).
  unfold blocks_of_word. rewrite E. pose proof O as O'. unfold rounded_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[B W] Sk] Z] Rp].
  destruct (cutting_of d) eqn:Cu; try easy. apply negb_true_iff in Sk. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. destruct (block_good_rule _ _ _ B) as [Br Bn].
  assert (F1 : flush (c_rule d) (first_c d w) = first_c d w) by now apply flush_twice. assert (F2 : flush (c_rule d) (first_c d w') = first_c d w') by now apply flush_twice.
  revert Hc F1 F2. generalize (first_c d w) as v, (first_c d w') as v'. unfold in_turn.
  assert (NE : Forall (fun b => b <> []) (cut_list (length (elements d w')) (block d) (elements d w'))).
  { generalize (length (elements d w')). generalize (elements d w'). intros l0 k0. revert l0. induction k0 as [|k0 IH0]; intros l; cbn; [constructor|]. destruct l as [|x l]; constructor; auto.
    destruct (block d); [lia|easy]. }
  induction NE as [|b r Hb NE IH]; intros v v' Hv F1 F2; [exact Hv|]. cbn [fold_left].
  assert (Q : forall v, flush (c_rule d) v = v -> block_value d v b = block_sum (sums d) (c_rule d) None (whole_factors d (ordered d b)) (map (term d) (ordered d b)) v).
  { intros u Fu. unfold block_value, skipped, terms. rewrite Sk, Cu. cbn [andb fst snd]. unfold taken_c. rewrite Fu, Zt, zero_as_none. reflexivity. }
  assert (P : map (term d) (ordered d b) <> []).
  { intros Q0. apply map_eq_nil in Q0. apply Hb. unfold ordered in Q0. destruct (odd_first d); auto. apply (f_equal (@length _)) in Q0. rewrite swapped_length in Q0. now apply length_zero_iff_nil. }
  rewrite !Q by auto. apply IH.
  - apply block_rises with (block d); auto.
  - destruct (result_quiet (sums d) (c_rule d) (block d) (whole_factors d (ordered d b)) (map (term d) (ordered d b)) v B); easy.
  - destruct (result_quiet (sums d) (c_rule d) (block d) (whole_factors d (ordered d b)) (map (term d) (ordered d b)) v' B); easy.
Qed.
