(** A composition of calls as one tree of sums. *)
From Coq Require Import ZArith List Bool Lia.
From TC Require Import Spec Design Designs Order Words Values Irrelevant AtOnce Axes.
Import ListNotations.
Open Scope Z_scope.

(** The blocks of all calls, one after the other, and the tree in which each has the sum of those before. *)
Definition call_blocks (d : design) (how : composition) : list (list nat) :=
  flat_map (fun ks => cut_list (length ks) (block d) ks) (parts how).
Definition chained (s : sum) (bs : list (list nat)) : steps :=
  fold_left (fun t ks => Step (Stage s) (map Product ks ++ [t])) bs PlusZero.

Definition as_tree (d : design) (how : composition) (s : sum) (n : nat) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := n; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := InSteps (Step (Stage (addition how)) [chained s (call_blocks d how); C]);
     nan_word := addition_nan how; nans := OneWord; composed := None |}.

Definition flush_eq (a b : flush_rule) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

Definition tree_of_calls (d : design) (how : composition) (n : nat) : bool :=
  match sums d, cutting_of d, scales d, zero_terms (factors d), decode (d_format d) 0 with
  | OneSum (Stage s), Whole, None, None, Num z =>
      negb (odd_first d) && negb (skips d) && (0 <? Z.of_nat (block d)) && (0 <? Z.of_nat n) &&
      (if flush_eq (of_sum how) (c_rule d) then true else false) && (if flush_eq (of_c how) (c_rule d) then true else false) &&
      negb (neg z) && (sig z =? 0) && (exp z =? emin (out s)) && (frac z =? p (out s)) &&
      match call_blocks d how with [] => false | _ => true end && forallb (forallb (fun k => Nat.ltb k n)) (call_blocks d how)
  | _, _, _, _, _ => false
  end.

Lemma cut_list_map {A B} (f : A -> B) n : forall k l, cut_list k n (map f l) = map (map f) (cut_list k n l).
Proof.
  induction k as [|k IH]; intros l; [reflexivity|]. destruct l as [|x l]; [reflexivity|]. cbn [cut_list map].
  change (f x :: map f l) with (map f (x :: l)). now rewrite firstn_map, skipn_map, IH.
Qed.

Lemma parts_blocks d xs ps : forall v, parts_value d xs ps v =
  fold_left (fun v ks => block_value d v (map (at_k xs) ks)) (flat_map (fun ks => cut_list (length ks) (block d) ks) ps) v.
Proof.
  unfold parts_value. induction ps as [|ks ps IH]; intros v; [reflexivity|]. cbn [fold_left flat_map]. rewrite IH, fold_left_app. f_equal.
  unfold values. rewrite map_length, cut_list_map. generalize (cut_list (length ks) (block d) ks) as bs. intros bs. revert v.
  induction bs as [|b bs IHb]; intros v; [reflexivity|]. cbn [map fold_left]. apply IHb.
Qed.

(** A composition of calls, each from the sum before it, is the tree of their sums. *)
Theorem composed_tree d how s n w : composed d = Some how -> sums d = OneSum (Stage s) -> tree_of_calls d how n = true -> length (pairs w) = n ->
  compute d w = compute (as_tree d how s n) w.
Proof.
  intros Co S O L. unfold tree_of_calls in O. rewrite S in O. destruct (cutting_of d) eqn:W; try easy. destruct (scales d) eqn:Sc; [easy|].
  destruct (zero_terms (factors d)) eqn:Zt; [easy|]. destruct (decode (d_format d) 0) as [z| |] eqn:D; try easy.
  repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[[[Of Sk] B] N] Fs] Fc] Z1] Z2] Z3] Z4] Ne] In].
  apply negb_true_iff in Of, Sk, Z1. apply Z.ltb_lt in B, N. apply Z.eqb_eq in Z2, Z3, Z4.
  destruct (flush_eq (of_sum how) (c_rule d)) as [Fs'|]; [|easy]. destruct (flush_eq (of_c how) (c_rule d)) as [Fc'|]; [|easy].
  set (d' := as_tree d how s n). assert (Pw : pairs w <> []) by (intros E; rewrite E in L; cbn in L; lia).
  assert (On' : one_nan d' = true) by (unfold one_nan; cbn; now rewrite Sk).
  rewrite (compute_word d), (compute_word d') by (try exact On'; auto; unfold one_nan; now rewrite Co).
  unfold the_nan. rewrite Co. cbn [composed nan_word d_format as_tree d']. f_equal.
  assert (X : elements d' w = elements d w) by (unfold elements; cbn; now rewrite Sc).
  unfold value. rewrite Co. cbn [composed c_format d' as_tree]. rewrite X. set (xs := elements d w).
  assert (Lx : length xs = n) by (unfold xs; now rewrite elements_length).
  assert (Cut : cut_list (length xs) (block d') xs = [xs]).
  { cbn [block d' as_tree]. rewrite Lx. destruct xs as [|x r] eqn:E; [cbn in Lx; lia|]. destruct n as [|n]; [lia|]. cbn [cut_list].
    rewrite <- Lx, firstn_all, skipn_all. now destruct n. }
  unfold values. rewrite Cut. cbn [fold_left].
  assert (Tm : forall e b, e = d \/ e = d' -> terms e (ordered e b) = (block_products d b, None)).
  { intros e b E. unfold terms, block_products, ordered. destruct E as [-> | ->]; cbn [cutting_of odd_first as_tree d']; now rewrite W, Of. }
  assert (Tc : forall v, taken_c d' v = flush (c_rule d) v) by (intros v; unfold taken_c; cbn; rewrite Zt; apply zero_as_none).
  assert (One : forall v b, block_value d v b = sum_values s (block_products d b ++ [flush (c_rule d) v])).
  { intros v b. unfold block_value, skipped. rewrite Sk, Tm, S by auto. cbn [andb block_sum add_from add]. unfold taken_c. now rewrite Zt, zero_as_none. }
  unfold block_value at 1, skipped. change (skips d') with (skips d). rewrite Sk, Tm by auto. cbn [andb]. rewrite Tc. cbn [sums d' as_tree block_sum eval_steps map add].
  rewrite Fs', Fc'. set (c := flush (c_rule d) (decode (c_format d) (c_word w))). set (r := c_rule d) in *.
  rewrite parts_blocks. fold (call_blocks d how). set (bs := call_blocks d how) in *. set (ps := block_products d xs).
  assert (Ps : forall ks, forallb (fun k => Nat.ltb k n) ks = true -> block_products d (map (at_k xs) ks) = map (fun k => nth k ps NaN) ks).
  { intros ks Hk. unfold ps, block_products, ordered. rewrite Of. rewrite map_map. apply map_ext_in. intros k I.
    rewrite forallb_forall in Hk. specialize (Hk k I). apply Nat.ltb_lt in Hk. set (g := fun x => scaled_product _ _ _ _ _).
    rewrite (nth_indep _ NaN (g {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |})) by (now rewrite map_length, Lx). now rewrite map_nth. }
  (* the value of the chain, and what a sum takes of it *)
  set (operand_of := fun t => let v := eval_steps r ps c t in match t with Step _ _ => flush r v | PlusZero => zero_of (Floating (out s)) | _ => v end).
  assert (G : forall l t v, forallb (forallb (fun k => Nat.ltb k n)) l = true -> operand_of t = flush r v ->
    match t with Step _ _ => eval_steps r ps c t = v | _ => True end ->
    let t' := fold_left (fun t ks => Step (Stage s) (map Product ks ++ [t])) l t in
    let v' := fold_left (fun v ks => block_value d v (map (at_k xs) ks)) l v in
    operand_of t' = flush r v' /\ match t' with Step _ _ => eval_steps r ps c t' = v' | _ => True end).
  { induction l as [|ks l IH]; intros t v Hl Ho Ht; [split; auto|]. cbn [fold_left forallb] in *. apply andb_prop in Hl. destruct Hl as [Hk Hl].
    assert (E : eval_steps r ps c (Step (Stage s) (map Product ks ++ [t])) = block_value d v (map (at_k xs) ks)).
    { rewrite One, Ps by auto. cbn [eval_steps add]. rewrite map_app, map_map. cbn [map]. f_equal. f_equal. fold r. rewrite <- Ho. unfold operand_of. now destruct t. }
    apply IH; auto. unfold operand_of. now rewrite E. }
  assert (Z0 : flush r (Num z) = zero_of (Floating (out s))).
  { unfold flush. assert (is_subnormal z = false) as -> by (unfold is_subnormal, is_zero; rewrite Z2; reflexivity). cbn [negb zero_of].
    destruct z as [zn zs ze zf]. cbn in *. now subst. }
  destruct (G bs PlusZero (Num z)) as [_ H]; auto. fold (chained s bs) in H.
  assert (St : exists l, chained s bs = Step (Stage s) l).
  { unfold chained. clear -Ne. destruct bs as [|b bs]; [easy|]. cbn [fold_left]. generalize (map Product b ++ [PlusZero]) as l. induction bs as [|b' bs IH]; intros l; cbn [fold_left]; eauto. }
  destruct St as [l St]. rewrite St in *. change (c_rule d') with r. cbn [fst]. now rewrite H, D.
Qed.
