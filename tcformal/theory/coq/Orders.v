(** Every order of summation over any kind of operands: what two kinds have in common with each sum they have in common with
    every order of sums. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact.
Import ListNotations.
Open Scope R_scope.

(** * Orders of sums *)

Section Orders.
Variables (A : Type) (sum : stage -> list A -> A) (zero : stage -> A) (taken : A -> A) (none : A).

Definition in_chain (s : stage) (start : A) (ps : list A) : A := fold_left (fun x t => sum s [x; t]) ps start.

Fixpoint in_pairs (s : stage) (l : list A) : list A :=
  match l with a :: b :: r => sum s [a; b] :: in_pairs s r | _ => l end.

Fixpoint in_rounds (fuel : nat) (s : stage) (l : list A) : A :=
  match fuel, l with
  | _, [v] => v
  | S k, _ => in_rounds k s (in_pairs s l)
  | O, _ => sum s l
  end.

Definition in_two (s : stage) (ps : list A) : A :=
  sum s [in_chain s (zero s) (evens ps); in_chain s (zero s) (odds ps)].

Definition inner_order (how : inner) (s : stage) (ps : list A) : A :=
  match how with
  | Together => sum s ps
  | Chain => match ps with [] => zero s | x :: r => in_chain s x r end
  | Pairwise => in_rounds (length ps) s ps
  | TwoChains => in_two s ps
  | PairChains => in_two s (in_pairs s ps)
  end.

Definition from_c (s last : stage) (c : A) (ps : list A) : A :=
  match ps with [] => c | _ => sum last [in_chain s c (removelast ps); List.last ps none] end.

Fixpoint in_steps (ps : list A) (c : A) (t : steps) : A :=
  match t with
  | Product k => nth k ps none
  | C => c
  | PlusZero => none
  | Step s l => sum s (map (fun x => let v := in_steps ps c x in
      match x with Step _ _ => taken v | PlusZero => zero s | _ => v end) l)
  end.

Definition block_order (how : summation) (ps : list A) (c : A) : A :=
  match how with
  | OneSum s => sum s (ps ++ [c])
  | FromC s last => from_c s last c ps
  | CLast how s last => sum last [inner_order how s ps; c]
  | InSteps t => in_steps ps c t
  | _ => none
  end.
End Orders.

(** * What is related stays so *)

Lemma evens_related A B (R : A -> B -> Prop) l m : Forall2 R l m -> Forall2 R (evens l) (evens m) /\ Forall2 R (odds l) (odds m).
Proof.
  unfold evens, odds. intros H. assert (G : forall n l m, (length l <= n)%nat -> Forall2 R l m -> Forall2 R (every_second l) (every_second m)).
  { clear. induction n as [|n IH]; intros l m L H; [destruct H; [constructor|cbn in L; lia]|].
    destruct H as [|a b l m H H']; [constructor|]. destruct H' as [|a' b' l m Hb H']; cbn; [repeat constructor; auto|].
    constructor; auto. apply IH; auto. cbn in L. lia. }
  split; [eapply G; eauto|]. destruct H; [constructor|]. cbn [tl]. eapply G; eauto.
Qed.

Section Related.
Variables (A B : Type) (sumA : stage -> list A -> A) (sumB : stage -> list B -> B) (zeroA : stage -> A) (zeroB : stage -> B)
  (takenA : A -> A) (takenB : B -> B) (noneA : A) (noneB : B) (P : stage -> Prop) (R : A -> B -> Prop).
Hypothesis (Hs : forall s l m, P s -> Forall2 R l m -> R (sumA s l) (sumB s m))
  (Hz : forall s, P s -> R (zeroA s) (zeroB s)) (Hn : R noneA noneB)
  (Ht : forall s l m, P s -> Forall2 R l m -> R (takenA (sumA s l)) (takenB (sumB s m))).

Lemma chain_related s : P s -> forall ps qs x y, R x y -> Forall2 R ps qs -> R (in_chain A sumA s x ps) (in_chain B sumB s y qs).
Proof.
  intros Ps ps qs x y Hx H. revert x y Hx. induction H as [|a b l m H H' IH]; intros x y Hx; [exact Hx|]. cbn. apply IH. apply Hs; auto.
Qed.

Lemma pairs_related s : P s -> forall n l m, (length l <= n)%nat -> Forall2 R l m -> Forall2 R (in_pairs A sumA s l) (in_pairs B sumB s m).
Proof.
  intros Ps. induction n as [|n IH]; intros l m L H; [destruct H; [constructor|cbn in L; lia]|].
  destruct H as [|a b l m H H']; [constructor|]. destruct H' as [|a' b' l m Hb H']; cbn; [repeat constructor; auto|].
  constructor; [apply Hs; auto|]. apply IH; auto. cbn in L. lia.
Qed.

Lemma rounds_related s : P s -> forall k l m, Forall2 R l m -> R (in_rounds A sumA k s l) (in_rounds B sumB k s m).
Proof.
  intros Ps. induction k as [|k IH]; intros l m H.
  - destruct H as [|a b l m H H']; [apply Hs; auto|]. destruct H' as [|a' b' l m Hb H']; [exact H|]. apply Hs; auto.
  - assert (Q : Forall2 R (in_pairs A sumA s l) (in_pairs B sumB s m)) by (eapply pairs_related; eauto).
    destruct H as [|a b l m H H']; [apply IH; auto|]. destruct H' as [|a' b' l m Hb H']; [exact H|]. cbn [in_rounds]. now apply IH.
Qed.

Lemma two_related s : P s -> forall l m, Forall2 R l m -> R (in_two A sumA zeroA s l) (in_two B sumB zeroB s m).
Proof.
  intros Ps l m H. destruct (evens_related A B R l m H). unfold in_two. apply Hs; auto. repeat constructor; apply chain_related; auto.
Qed.

Lemma inner_related how s l m : P s -> Forall2 R l m -> R (inner_order A sumA zeroA how s l) (inner_order B sumB zeroB how s m).
Proof.
  intros Ps H. destruct how; cbn [inner_order]; auto.
  - destruct H; auto. now apply chain_related.
  - rewrite (Forall2_length R l m H). now apply rounds_related.
  - now apply two_related.
  - apply two_related; auto. eapply pairs_related; eauto.
Qed.

Lemma removelast_related l m : Forall2 R l m -> Forall2 R (removelast l) (removelast m) /\ R (last l noneA) (last m noneB).
Proof.
  induction 1 as [|a b l m H H' [IH1 IH2]]; [split; auto; constructor|]. destruct H' as [|a' b' l m Hb H'].
  - cbn. split; auto.
  - split; [change (removelast (a :: a' :: l)) with (a :: removelast (a' :: l)); change (removelast (b :: b' :: m)) with (b :: removelast (b' :: m)); constructor; auto|].
    exact IH2.
Qed.

Lemma steps_related ps qs c e t : Forall2 R ps qs -> R c e -> Forall P (stages t) ->
  R (in_steps A sumA zeroA takenA noneA ps c t) (in_steps B sumB zeroB takenB noneB qs e t) /\
  (forall s l, t = Step s l -> R (takenA (in_steps A sumA zeroA takenA noneA ps c t)) (takenB (in_steps B sumB zeroB takenB noneB qs e t))).
Proof.
  intros H Hc. induction t as [k| | |s l IH] using steps_ind'; intros F; cbn [in_steps]; try (split; [auto|easy]).
  - clear F. revert k. induction H as [|a b l m Ha H IH]; intros k; destruct k; cbn; auto.
  - cbn [stages] in F. apply Forall_cons_iff in F. destruct F as [Ps F].
    assert (G : Forall2 R
      (map (fun x => let v := in_steps A sumA zeroA takenA noneA ps c x in match x with Step _ _ => takenA v | PlusZero => zeroA s | _ => v end) l)
      (map (fun x => let v := in_steps B sumB zeroB takenB noneB qs e x in match x with Step _ _ => takenB v | PlusZero => zeroB s | _ => v end) l)).
    { clear -IH F Hz Ps. induction l as [|x l IHl]; [constructor|]. apply Forall_cons_iff in IH. destruct IH as [Ix Il].
      cbn [map concat] in F. apply Forall_app in F. destruct F as [Fx Fl]. cbn [map]. constructor; [|now apply IHl].
      destruct (Ix Fx) as [I1 I2]. destruct x as [k| | |s' m]; auto. now apply (I2 s' m). }
    split; [now apply Hs|]. intros s' l' _. now apply Ht.
Qed.

Theorem order_related how ps qs c e : Forall P (block_stages how) -> Forall2 R ps qs -> R c e ->
  R (block_order A sumA zeroA takenA noneA how ps c) (block_order B sumB zeroB takenB noneB how qs e).
Proof.
  intros F H Hc. destruct how as [s| | | | | |s l|i s l|t]; cbn [block_order block_stages] in *; auto.
  - inversion F; subst. apply Hs; auto. apply Forall2_app; auto.
  - inversion F as [|? ? Ps F']; subst. inversion F' as [|? ? Pl _]; subst. unfold from_c.
    destruct (removelast_related _ _ H) as [G1 G2]. destruct H; auto. apply Hs; auto. repeat constructor; auto.
    now apply chain_related.
  - inversion F as [|? ? Ps F']; subst. inversion F' as [|? ? Pl _]; subst. apply Hs; auto. repeat constructor; auto.
    now apply inner_related.
  - now apply steps_related.
Qed.
End Related.

(** * The specification's sums are these *)

Lemma results_order s l ps c : List.last (chain_results s l c ps) c = from_c val add NaN s l c ps.
Proof.
  unfold from_c. destruct ps as [|x ps]; [reflexivity|].
  assert (G : forall ps x c e, List.last (chain_results s l c (x :: ps)) e = add l [in_chain val add s c (removelast (x :: ps)); List.last (x :: ps) NaN]).
  { clear. induction ps as [|y r IH]; intros x c e; [reflexivity|].
    change (chain_results s l c (x :: y :: r)) with (add s [c; x] :: chain_results s l (add s [c; x]) (y :: r)).
    change (removelast (x :: y :: r)) with (x :: removelast (y :: r)). change (List.last (x :: y :: r) NaN) with (List.last (y :: r) NaN).
    specialize (IH y (add s [c; x]) e). cbn [in_chain fold_left]. fold (in_chain val add s (add s [c; x]) (removelast (y :: r))). rewrite <- IH.
    destruct (chain_results s l (add s [c; x]) (y :: r)) eqn:E; [|reflexivity]. destruct r; easy. }
  apply G.
Qed.

Lemma steps_order r ps c t : eval_steps r ps c t = in_steps val add (fun s => zero_of (stage_rounding s)) (flush r) NaN ps c t.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; cbn [eval_steps in_steps]; auto. f_equal. apply map_ext_in. intros x Hx.
  rewrite Forall_forall in IH. now rewrite (IH x Hx).
Qed.

(** Sums of one kind, or in an order. *)
Definition ordered_sum (how : summation) : bool := match how with OneSum _ | FromC _ _ | CLast _ _ _ | InSteps _ => true | _ => false end.

Theorem block_order_sum how r fs ps c : ordered_sum how = true ->
  block_sum how r None fs ps c = block_order val add (fun s => zero_of (stage_rounding s)) (flush r) NaN how ps c.
Proof.
  intros O. destruct how as [s| | | | | |s l|i s l|t]; try easy; cbn [block_sum block_order].
  - apply results_order.
  - apply steps_order.
Qed.

(** * Exact sums in an order are the sum *)

Definition plain_sum_of (s : stage) (l : list R) : R := Rsum l.

Lemma chain_total s ps : forall x, in_chain R plain_sum_of s x ps = x + Rsum ps.
Proof. induction ps as [|a r IH]; intros x; cbn; [ring|]. unfold in_chain in IH. rewrite IH. unfold plain_sum_of. cbn. unfold Rsum. ring. Qed.

Lemma pairs_total s : forall n l, (length l <= n)%nat -> Rsum (in_pairs R plain_sum_of s l) = Rsum l.
Proof.
  induction n as [|n IH]; intros l L; destruct l as [|a [|b r]]; cbn in *; auto; try lia. unfold Rsum in *. rewrite IH by lia.
  unfold plain_sum_of. cbn. ring.
Qed.

Lemma rounds_total s : forall k l, in_rounds R plain_sum_of k s l = Rsum l.
Proof.
  assert (One : forall a, Rsum [a] = a) by (intros; cbn; ring).
  induction k as [|k IH]; intros l; destruct l as [|a [|b r]]; cbn [in_rounds]; auto; rewrite IH; eapply pairs_total; eauto.
Qed.

Lemma sides_total (l : list R) : Rsum (evens l) + Rsum (odds l) = Rsum l.
Proof.
  unfold evens, odds. assert (H : forall n (l : list R), (length l <= n)%nat -> Rsum (every_second l) + Rsum (every_second (tl l)) = Rsum l).
  { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; cbn [length] in L; try lia; try (cbn; ring).
    assert (O : every_second (y :: r) = y :: every_second (tl r)) by (destruct r; auto).
    change (every_second (x :: y :: r)) with (x :: every_second r). cbn [tl]. rewrite O. specialize (IH r ltac:(lia)). rewrite !Rsum_cons. lra. }
  eapply H; eauto.
Qed.

Lemma two_total s l : in_two R plain_sum_of (fun _ => 0) s l = Rsum l.
Proof. unfold in_two. rewrite !chain_total. unfold plain_sum_of. rewrite !Rsum_cons. cbn. rewrite <- (sides_total l). ring. Qed.

Lemma steps_total q c t : in_steps R plain_sum_of (fun _ => 0) (fun x => x) 0 q c t =
  Rsum (map (fun k => nth k q 0) (leaves false t)) + INR (length (leaves true t)) * c.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; cbn [in_steps leaves map length INR]; try (cbn; ring).
  change (plain_sum_of s) with Rsum. induction IH as [|x l Hx IH IHl]; [cbn; ring|]. cbn [map concat]. rewrite map_app, Rsum_app, app_length, plus_INR, Rsum_cons, IHl.
  destruct x as [k| | |s' l']; [cbn; ring|cbn; ring|cbn; ring|]. cbv zeta. rewrite Hx. ring.
Qed.

Theorem order_total how q c : ordered_sum how = true -> q <> [] -> match how with InSteps t => once (length q) t = true | _ => True end ->
  block_order R plain_sum_of (fun _ => 0) (fun x => x) 0 how q c = Rsum q + c.
Proof.
  intros O N Oc. destruct how as [s| | | | | |s l|i s l|t]; try easy; cbn [block_order].
  - unfold plain_sum_of. rewrite Rsum_app. cbn. ring.
  - unfold from_c. destruct q as [|x q]; [easy|]. rewrite chain_total. unfold plain_sum_of. rewrite (app_removelast_last 0 N) at 3.
    rewrite Rsum_app, !Rsum_cons. cbn. ring.
  - assert (I : inner_order R plain_sum_of (fun _ => 0) i s q = Rsum q).
    { destruct i; cbn [inner_order]; [reflexivity| |apply rounds_total|apply two_total|rewrite two_total; eapply pairs_total; eauto].
      destruct q as [|x q]; [easy|]. now rewrite chain_total. }
    rewrite I. unfold plain_sum_of. rewrite !Rsum_cons. cbn. ring.
  - rewrite steps_total.
    unfold once in Oc. repeat rewrite andb_true_iff in Oc. destruct Oc as [[O1 O2] O3]. apply Nat.eqb_eq in O1, O3.
    rewrite O3. cbn [INR]. rewrite Rmult_1_l. f_equal.
    assert (P : Permutation (seq 0 (length q)) (leaves false t)).
    { apply NoDup_Permutation_bis; [apply seq_NoDup|rewrite seq_length; lia|].
      intros i Hi. rewrite forallb_forall in O2. specialize (O2 i Hi). apply existsb_exists in O2. destruct O2 as [j [J E]]. apply Nat.eqb_eq in E. now subst. }
    assert (S : forall l m, Permutation l m -> Rsum l = Rsum m) by (intros l m Q; unfold Rsum; induction Q; cbn; lra).
    rewrite <- (S _ _ (Permutation_map (fun k => nth k q 0) P)). f_equal.
    clear. induction q as [|x r IH] using rev_ind; [reflexivity|]. rewrite app_length, Nat.add_1_r, seq_S, !map_app. f_equal.
    + rewrite <- IH at 2. apply map_ext_in. intros i Hi. apply in_seq in Hi. now rewrite app_nth1 by lia.
    + cbn. now rewrite app_nth2, Nat.sub_diag by lia.
Qed.
