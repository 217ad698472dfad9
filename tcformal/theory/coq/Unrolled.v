(** Blocks of sums in steps, each from the result before, as one tree of sums. *)
From Coq Require Import ZArith List Bool Permutation Lia.
From TC Require Import Spec Design Designs Words Values Irrelevant AtOnce Mirror Axes Accumulated Trees Summations Exact Orders Stages StepNans.
Import ListNotations.
Open Scope Z_scope.

Definition product_operand (x : steps) : bool := match x with Product _ => true | _ => false end.
Definition c_operand (x : steps) : bool := match x with C => true | _ => false end.
Definition inner_operand (x : steps) : bool := negb (product_operand x || c_operand x).

(** The same tree of products from the [n]-th on, with another one in place of c: after products, before other sums. *)
Fixpoint grafted (n : nat) (g t : steps) : steps :=
  match t with
  | Product k => Product (n + k)
  | C => g
  | PlusZero => PlusZero
  | Step s l =>
      let q := map (fun x => (x, grafted n g x)) l in
      let of p := map snd (filter (fun x => p (fst x)) q) in Step s (of product_operand ++ of c_operand ++ of inner_operand)
  end.

Lemma grafted_step n g s l : exists l', grafted n g (Step s l) = Step s l' /\ Permutation l' (map (grafted n g) l).
Proof.
  eexists. split; [reflexivity|]. cbv zeta. induction l as [|x l IH]; [constructor|]. cbn [map filter fst snd]. unfold inner_operand at 1. destruct x; cbn [product_operand c_operand orb negb map snd app].
  - now constructor.
  - rewrite app_comm_cons. eapply perm_trans; [symmetry; apply Permutation_middle|]. now constructor.
  - rewrite app_assoc. eapply perm_trans; [symmetry; apply Permutation_middle|]. rewrite <- app_assoc. now constructor.
  - rewrite app_assoc. eapply perm_trans; [symmetry; apply Permutation_middle|]. rewrite <- app_assoc. now constructor.
Qed.

(** [m + 1] blocks of [n] products. *)
Definition unrolled (n m : nat) (t : steps) : steps := fold_left (fun g i => grafted (n * i) g t) (seq 1 m) t.

(** Whether it has the first [n] products only. *)
Fixpoint first_only (n : nat) (t : steps) : bool :=
  match t with Product k => Nat.ltb k n | Step _ l => forallb (first_only n) l | _ => true end.

Lemma first_only_more r ps qs c t : first_only (length ps) t = true -> eval_steps r (ps ++ qs) c t = eval_steps r ps c t.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; intros H; cbn [first_only eval_steps] in *; auto.
  - apply Nat.ltb_lt in H. now apply app_nth1.
  - f_equal. apply map_ext_in. intros x Hx. rewrite Forall_forall in IH. rewrite forallb_forall in H. specialize (IH x Hx (H x Hx)). cbv zeta. now rewrite IH.
Qed.

Lemma first_only_le n m t : (n <= m)%nat -> first_only n t = true -> first_only m t = true.
Proof.
  intros L. induction t as [k| | |s l IH] using steps_ind'; intros H; cbn [first_only] in *; auto.
  - apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
  - apply forallb_forall. intros x Hx. rewrite Forall_forall in IH. rewrite forallb_forall in H. auto.
Qed.

Lemma first_only_grafted n m g t : first_only n g = true -> first_only m t = true -> first_only (n + m) (grafted n g t) = true.
Proof.
  intros G. induction t as [k| | |s l IH] using steps_ind'; intros H; auto.
  - cbn [first_only grafted] in *. apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
  - apply first_only_le with n; auto. lia.
  - destruct (grafted_step n g s l) as [l' [-> P]]. cbn [first_only] in *. rewrite forallb_forall. intros y Hy. apply (Permutation_in _ P) in Hy. apply in_map_iff in Hy. destruct Hy as [x [<- Hx]]. rewrite Forall_forall in IH. rewrite forallb_forall in H. auto.
Qed.

Lemma grafted_ok r ps qs c s0 l0 t : first_only (length ps) (Step s0 l0) = true ->
  let g := Step s0 l0 in let c' := flush r (eval_steps r ps c g) in
  match t with Step _ _ => eval_steps r (ps ++ qs) c (grafted (length ps) g t) = eval_steps r qs c' t | _ => True end.
Proof.
  intros G g c'. induction t as [k| | |s l IH] using steps_ind'; auto. destruct (grafted_step (length ps) g s l) as [m [-> P]]. cbn [eval_steps].
  rewrite (add_perm s _ _ (Permutation_map _ P)). f_equal. rewrite map_map. apply map_ext_in. intros x Hx.
  rewrite Forall_forall in IH. specialize (IH x Hx). cbv zeta. destruct x as [k| | |s' l'].
  - cbn [grafted eval_steps]. rewrite app_nth2 by lia. f_equal. lia.
  - change (flush r (eval_steps r (ps ++ qs) c g) = c'). unfold c'. now rewrite first_only_more.
  - reflexivity.
  - destruct (grafted_step (length ps) g s' l') as [m' [E _]]. rewrite E in *. now rewrite IH.
Qed.

Definition with_block (d : design) (n : nat) (how : summation) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := n; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := how; nan_word := nan_word d; nans := nans d; composed := composed d |}.

Definition unrolls (d : design) (t : steps) : bool :=
  one_nan d && negb (odd_first d) && (0 <? Z.of_nat (block d)) && first_only (block d) t &&
  match cutting_of d, composed d, zero_terms (factors d), t with Whole, None, None, Step _ _ => true | _, _, _, _ => false end.

(** The sums of an order as the tree of one block's steps, of any number of whole blocks whose NaNs are one word. *)
Definition block_steps (d : design) (n : nat) : option summation :=
  let how := sums d in
  match tree_in (chain_zero how) how (seq 0 (block d)) with
  | (Step s l, true) =>
      if ordered_sum how && forallb (taken_whole (c_rule d)) (block_stages how) && negb (skips d) && match cutting_of d, composed d with Whole, None => true | _, _ => false end &&
         match nans d with OneWord => true | _ => false end && (0 <? Z.of_nat (block d)) && (Nat.modulo n (block d) =? 0)%nat
      then Some (InSteps (Step s l)) else None
  | _ => None
  end.

Lemma order_as_block_steps d how n w : block_steps d n = Some how -> length (pairs w) = n -> compute d w = compute (with_sums d how) w.
Proof.
  unfold block_steps. intros O L. destruct (tree_in _ _ _) as [t m] eqn:E. destruct t as [| | |s l]; try easy. destruct m; [|easy].
  destruct (_ && _) eqn:G in O; [|easy]. injection O as <-. repeat rewrite andb_true_iff in G. destruct G as [[[[[[Os T] Sk] W] Q] B] D].
  apply negb_true_iff in Sk. apply Z.ltb_lt in B. apply Nat.eqb_eq in D. destruct (cutting_of d) eqn:Wc; try easy. destruct (composed d) eqn:Co; [easy|].
  apply same_words with (C := fun _ => True) (n := block d); auto; [lia| |right; rewrite L; auto].
  intros b v x fs fs' [Lb|Lb] _ _ _; [|lia]. split; [|exact I]. unfold step_with. cbv zeta.
  assert (Lp : length (block_products d b) = block d) by now rewrite block_products_length.
  pose proof (order_tree (c_rule d) (block_products d b) (taken_c d v) _ (sums d) (seq 0 (block d)) fs s l Os T E) as V.
  rewrite <- Lp, nth_all in V. cbn [block_sum]. rewrite <- V. f_equal. destruct (is_nan _) eqn:N; cbn [negb]; [|reflexivity].
  unfold nan_of_block. destruct (nans d) eqn:R; try easy. now destruct (sums d).
Qed.

(** The sums of [n] products in an order, of all blocks as one tree. *)
Definition as_one_block (d : design) (n : nat) : option summation :=
  match block_steps d n with
  | Some (InSteps t) => if unrolls d t && (0 <? Z.of_nat n) then Some (InSteps (unrolled (block d) (n / block d - 1) t)) else None
  | _ => None
  end.

(** A chain of blocks of steps is one tree. *)
Theorem blocks_unrolled d t n w : sums d = InSteps t -> unrolls d t = true -> length (pairs w) = n -> (n <> 0 /\ n mod block d = 0)%nat ->
  compute d w = compute (with_block d n (InSteps (unrolled (block d) (n / block d - 1) t))) w.
Proof.
  intros S O L [Nz D]. unfold unrolls in O. repeat rewrite andb_true_iff in O. destruct O as [[[[On Of] B] In] O]. apply negb_true_iff in Of. apply Z.ltb_lt in B.
  destruct (cutting_of d) eqn:W; try easy. destruct (composed d) eqn:Co; [easy|]. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. destruct t as [| | |s0 l0]; try easy. clear O. set (t := Step s0 l0) in *.
  set (m := block d) in *. set (T := unrolled m (n / m - 1) t). set (d' := with_block d n (InSteps T)).
  assert (Sk : skips d = false) by (unfold one_nan in On; rewrite Co in On; destruct (nans d); try easy; now apply negb_true_iff in On).
  assert (Pw : pairs w <> []) by (intros E; rewrite E in L; cbn in L; lia).
  rewrite (compute_word d), (compute_word d') by (try exact On; auto). change (the_nan d') with (the_nan d). change (d_format d') with (d_format d). f_equal.
  unfold value. change (composed d') with (composed d). rewrite Co. change (elements d' w) with (elements d w). change (c_format d') with (c_format d).
  set (xs := elements d w). assert (Lx : length xs = n) by (unfold xs; now rewrite elements_length). set (v0 := decode (c_format d) (c_word w)).
  set (r := c_rule d). set (c := flush r v0). set (prods := fun l => block_products d l).
  assert (Bd : forall e how l v, e = d \/ e = d' -> sums e = how -> block_value e v l = block_sum how r None (whole_factors e l) (prods l) (flush r v)).
  { intros e how l v E <-. unfold block_value, skipped, terms, taken_c, prods, block_products, ordered. destruct E as [-> | ->]; cbn [skips cutting_of odd_first factors c_rule d' with_block]; now rewrite Sk, W, Of, Zt, zero_as_none. }
  assert (Cut : cut_list (length xs) (block d') xs = [xs]).
  { cbn [block d' with_block]. rewrite Lx. destruct xs as [|x q] eqn:E; [cbn in Lx; lia|]. destruct n as [|n0]; [lia|]. cbn [cut_list]. rewrite <- Lx, firstn_all, skipn_all. now destruct n0. }
  unfold values. rewrite Cut. cbn [fold_left]. rewrite (Bd d' (InSteps T)) by auto. cbn [block_sum]. fold c. fold m.
  assert (F : Forall (fun b => length b = m) (cut_list (length xs) m xs)) by (apply (full_blocks d); try lia; now rewrite Lx).
  assert (Cc : concat (cut_list (length xs) m xs) = xs) by (apply concat_cut; lia).
  assert (Pa : forall a b, prods (a ++ b) = prods a ++ prods b) by (intros a b; unfold prods, block_products, ordered; rewrite Of; apply map_app).
  assert (Pl : forall l, length (prods l) = length l) by (intros l; apply block_products_length).
  assert (G : forall bs i done g, Forall (fun b => length b = m) bs -> length done = (m * i)%nat -> (exists s l, g = Step s l) -> first_only (m * i) g = true ->
    fold_left (block_value d) bs (eval_steps r (prods done) c g) =
    eval_steps r (prods (done ++ concat bs)) c (fold_left (fun g i => grafted (m * i) g t) (seq i (length bs)) g)).
  { induction bs as [|b bs IH]; intros i done g Fb Ld Sg Wg; [cbn; now rewrite app_nil_r|]. inversion Fb; subst. cbn [fold_left length seq concat].
    destruct Sg as [s1 [l1 Sg]]. rewrite (Bd d (InSteps t)) by auto. cbn [block_sum].
    pose proof (grafted_ok r (prods done) (prods b) c s1 l1 t) as Gk. rewrite Pl, Ld in Gk. rewrite <- Sg in Gk. specialize (Gk Wg). cbv zeta in Gk. unfold t at 1 in Gk. fold t in Gk. rewrite <- Gk, <- Pa.
    rewrite (IH (Datatypes.S i) (done ++ b)); [now rewrite <- app_assoc|assumption|rewrite app_length; nia|unfold t; destruct (grafted_step (m * i) g s0 l0) as [q [-> _]]; eauto|].
    replace (m * Datatypes.S i)%nat with (m * i + m)%nat by lia. now apply first_only_grafted. }
  destruct (cut_list (length xs) m xs) as [|b bs] eqn:Cl; [cbn in Cc; rewrite <- Cc in Lx; cbn in Lx; lia|]. apply Forall_cons_iff in F. destruct F as [Lb Fb]. cbn [fold_left concat] in *.
  rewrite (Bd d (InSteps t)) by auto. cbn [block_sum]. fold c.
  rewrite (G bs 1%nat b t); auto; [|lia|unfold t; eauto|now rewrite Nat.mul_1_r].
  rewrite Cc. f_equal. unfold T, unrolled. do 2 f_equal.
  assert (Lc : length xs = (m * Datatypes.S (length bs))%nat).
  { rewrite <- Cc, app_length, Lb. assert (length (concat bs) = (m * length bs)%nat); [|lia]. clear -Fb. induction Fb as [|y q Hy Fb IH]; [cbn; lia|]. cbn [concat length]. rewrite app_length, IH, Hy. lia. }
  rewrite <- Lx, Lc, Nat.mul_comm, Nat.div_mul by lia. lia.
Qed.

(** All blocks of sums in an order are one tree. *)
Theorem order_as_one_block d how n w : as_one_block d n = Some how -> length (pairs w) = n -> compute d w = compute (with_block d n how) w.
Proof.
  unfold as_one_block. destruct (block_steps d n) as [h|] eqn:A; [|easy]. destruct h as [| | | | | | | |t]; try easy. destruct (unrolls d t && _) eqn:U; [|easy]. intros E L. injection E as <-.
  apply andb_prop in U. destruct U as [U N]. apply Z.ltb_lt in N. rewrite (order_as_block_steps d _ n w A L). assert (D : (n mod block d = 0)%nat).
  { unfold block_steps in A. destruct (tree_in _ _ _) as [q mm]. destruct q as [| | |s l]; try easy. destruct mm; [|easy]. destruct (_ && _) eqn:G in A; [|easy]. apply andb_prop in G. destruct G as [_ G]. now apply Nat.eqb_eq in G. }
  change (block d) with (block (with_sums d (InSteps t))) in *. apply (blocks_unrolled (with_sums d (InSteps t))); auto. lia.
Qed.
