(** Orders of summation as trees of sums. *)
From Coq Require Import ZArith List Bool Lia.
From TC Require Import Spec Design Leaves Stage.
Import ListNotations.
Open Scope Z_scope.

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
