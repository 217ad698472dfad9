(** Designs whose sums are exact and then rounded, in any order, from words: the error in the standard form (1 + u)^k - 1, k
    roundings on the longest path, and sums of integers, which are exact. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations.
Import ListNotations.
Open Scope R_scope.

(** * One block *)

(** Every product once in a tree of steps, and c once. *)
Definition once (n : nat) (t : steps) : bool :=
  (length (leaves false t) =? n)%nat && forallb (fun i => existsb (Nat.eqb i) (leaves false t)) (seq 0 n) && (length (leaves true t) =? 1)%nat.

Lemma leaf_sum_leaves g q c t :
  leaf_sum g q c t = Rsum (map (fun k => g (nth k q c)) (leaves false t)) + INR (length (leaves true t)) * g c.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; cbn [leaf_sum leaves map length INR]; try (cbn; ring).
  induction IH as [|x l Hx IH IHl]; [cbn; ring|]. cbn [map concat]. rewrite map_app, Rsum_app, app_length, plus_INR, Rsum_cons, Hx, IHl. ring.
Qed.

Lemma once_sum g q c t : once (length q) t = true -> leaf_sum g q c t = Rsum (map g q) + g c.
Proof.
  unfold once. intros O. repeat rewrite andb_true_iff in O. destruct O as [[O1 O2] O3]. apply Nat.eqb_eq in O1, O3.
  rewrite leaf_sum_leaves, O3. cbn [INR]. rewrite Rmult_1_l. f_equal.
  assert (P : Permutation (seq 0 (length q)) (leaves false t)).
  { apply NoDup_Permutation_bis; [apply seq_NoDup|rewrite seq_length; lia|].
    intros i Hi. rewrite forallb_forall in O2. specialize (O2 i Hi). apply existsb_exists in O2. destruct O2 as [j [J E]]. apply Nat.eqb_eq in E. now subst. }
  assert (S : forall l m, Permutation l m -> Rsum l = Rsum m).
  { intros l m Q. unfold Rsum. induction Q; cbn; lra. }
  rewrite <- (S _ _ (Permutation_map (fun k => g (nth k q c)) P)). f_equal.
  clear. induction q as [|x r IH] using rev_ind; [reflexivity|]. rewrite app_length, Nat.add_1_r, seq_S, !map_app. f_equal.
  - rewrite <- IH. apply map_ext_in. intros i Hi. apply in_seq in Hi. now rewrite app_nth1 by lia.
  - cbn. now rewrite app_nth2, Nat.sub_diag by lia.
Qed.

Definition block_stages (how : summation) : list stage :=
  match how with OneSum s => [s] | FromC s l | CLast _ s l => [s; l] | InSteps t => stages t | _ => [] end.

Definition last_stage (how : summation) : option stage :=
  match how with OneSum s | FromC _ s | CLast _ _ s => Some s | InSteps (Step s _) => Some s | _ => None end.

Definition block_good (how : summation) (r : flush_rule) (n : nat) : bool :=
  (0 <? n)%nat && forallb (fun s => (emin (stage_out s) <=? emax (stage_out s))%Z) (block_stages how) &&
  match how with
  | OneSum s => exact_stage s
  | FromC s l | CLast _ s l => exact_stage s && exact_stage l
  | InSteps t => steps_good r n t && once n t
  | _ => false
  end &&
  match last_stage how with Some s => exact_stage s && quiet_stage r s | None => false end.

(** Roundings of a block in all, at most, beside those of its terms. *)
Definition block_count (how : summation) (n : nat) : nat := match how with InSteps t => steps_count t | _ => 2 + n end.

Section Block.
Variables (F : bool) (G : R -> Prop) (Q : conversion -> Prop).
Notation is := (is F G Q).

Lemma block_made how r q c kp kc fs : block_good how r (length q) = true -> Forall (fun s => Q (stage_out s)) (block_stages how) ->
  Forall (is kp) q -> is kc c ->
  exists z k, block_depth how (length q) kp kc = Some k /\ is k z /\ got z = block_sum how r None fs (map got q) (got c) /\
    exact z = exact c + Rsum (map exact q) /\ size z = size c + Rsum (map size q) /\
    work z <= work c + Rsum (map work q) + INR (block_count how (length q)).
Proof.
  intros B Qs Fq Hc. unfold block_good in B. repeat rewrite andb_true_iff in B. destruct B as [[[N E] X] L].
  assert (E' : Forall (fun s => (emin (stage_out s) <= emax (stage_out s))%Z) (block_stages how)).
  { apply Forall_forall. intros s Hs. rewrite forallb_forall in E. specialize (E s Hs). lia. }
  assert (NE : q <> []) by (destruct q; easy). pose proof (pos_INR (length q)) as P0.
  destruct how as [s| | | | | |s l|i s l|t]; try easy; cbn [block_depth block_sum add_from block_count block_stages] in *.
  - inversion Qs as [|? ? Q1 _]; subst.
    destruct (sum_made F G Q s (Nat.max kp kc) (q ++ [c]) (conj X Q1)) as [z [A [B [C [D W]]]]].
    { apply Forall_app. split; [eapply Forall_impl; [|exact Fq]; intros; eapply is_deeper; eauto; lia|constructor; auto; eapply is_deeper; eauto; lia]. }
    exists z, (1 + Nat.max kp kc)%nat. rewrite map_app in B. rewrite !map_app, !Rsum_app in *. cbn [map] in *. rewrite !Rsum_cons in *. change (Rsum []) with 0 in *.
    rewrite plus_INR. cbn [INR]. split; [reflexivity|]. split; [exact A|]. split; [exact B|]. split; [lra|]. split; lra.
  - apply andb_prop in X. destruct X as [X1 X2]. inversion Qs as [|? ? Q1 Q2]; subst. inversion Q2 as [|? ? Q3 _]; subst.
    destruct (results_made F G Q s l (conj X1 Q1) (conj X2 Q3) q (Nat.max kp kc) c) as [z [A [B [C [D W]]]]].
    { eapply is_deeper; eauto; lia. } { eapply Forall_impl; [|exact Fq]; intros; eapply is_deeper; eauto; lia. }
    exists z, (length q + Nat.max kp kc)%nat. rewrite plus_INR. cbn [INR]. repeat split; auto; lra.
  - apply andb_prop in X. destruct X as [X1 X2]. inversion Qs as [|? ? Q1 Q2]; subst. inversion Q2 as [|? ? Q3 _]; subst.
    destruct (inner_made F G Q i s kp q (conj X1 Q1) NE Fq) as [y [A [B [C [D W]]]]].
    destruct (sum2_made F G Q l (Nat.max (inner_depth i (length q) + kp) kc) y c (conj X2 Q3)) as [z [A' [B' [C' [D' W']]]]].
    { eapply is_deeper; eauto; lia. } { eapply is_deeper; eauto; lia. }
    exists z, (1 + Nat.max (inner_depth i (length q) + kp) kc)%nat. rewrite plus_INR. cbn [INR]. rewrite B in B'. repeat split; auto; lra.
  - apply andb_prop in X. destruct X as [X1 X2].
    assert (Rd : Forall (ready Q) (stages t)).
    { clear -Qs E'. rewrite Forall_forall in *. intros s Hs. split; auto. }
    destruct (steps_made F G Q r q c kp kc Fq Hc t X1 Rd) as [z [A [B [C [D W]]]]].
    exists z, (steps_depth kp kc t). rewrite once_sum in C, D, W by auto. repeat split; auto; lra.
Qed.

(** The result of a block counts as itself where it is the next one's c. *)
Lemma result_quiet how r n fs ps c : block_good how r n = true ->
  flush r (block_sum how r None fs ps c) = block_sum how r None fs ps c \/ ps = [].
Proof.
  intros B. unfold block_good in B. repeat rewrite andb_true_iff in B. destruct B as [[[N E] X] L].
  assert (Hq : forall s vs, last_stage how = Some s -> In s (block_stages how) -> flush r (add s vs) = add s vs).
  { intros s vs Ls I. rewrite Ls in L. apply andb_prop in L. destruct L as [L1 L2]. rewrite forallb_forall in E. specialize (E s I). apply Z.leb_le in E.
    destruct (quiet_flush r s vs L1 E L2) as [v [V1 V2]]. congruence. }
  destruct how as [s| | | | | |s l|i s l|t]; try easy; cbn [block_sum add_from last_stage block_stages] in *.
  - left. apply Hq; auto. now left.
  - destruct ps as [|x ps]; [now right|]. left.
    assert (G0 : forall ps x c, exists y t, last (chain_results s l c (x :: ps)) c = add l [y; t]).
    { clear. induction ps as [|x' ps IH]; intros x c; [exists c, x; reflexivity|].
      destruct (IH x' (add s [c; x])) as [y [t E]]. exists y, t. rewrite <- E.
      change (chain_results s l c (x :: x' :: ps)) with (add s [c; x] :: chain_results s l (add s [c; x]) (x' :: ps)).
      cbn [last]. destruct (chain_results s l (add s [c; x]) (x' :: ps)) eqn:Q0; [cbn in Q0; destruct ps; easy|].
      assert (LL : forall (a : val) m d1 d2, last (a :: m) d1 = last (a :: m) d2) by
        (intros a m; revert a; induction m as [|b m IHm]; intros a d1 d2; [reflexivity|exact (IHm b d1 d2)]).
      apply LL. }
    destruct (G0 ps x c) as [y [t0 Eq]]. rewrite Eq. apply Hq; auto. right; now left.
  - left. apply Hq; auto. right; now left.
  - left. destruct t as [k| | |s l]; try easy. cbn [eval_steps]. apply Hq; auto. now left.
Qed.
End Block.

(** * Designs *)

(** An element's exact term: the product of its factors as the multiplier takes them, and its scales, not rounded. *)
Definition unrounded (q : product_rule) : product_rule :=
  {| of_a := of_a q; of_b := of_b q; normalise_factors := normalise_factors q; exponent_step := exponent_step q; zero_terms := zero_terms q;
     odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := None |}.
Definition exact_term (d : design) (x : element) : val :=
  scaled_product (unrounded (factors d)) (a_of d x) (b_of d x) (index x) (scaled_by x).
Definition exact_value (d : design) (x : element) : R := V (num_of (exact_term d x)).

Definition product_conversion (d : design) : list conversion := match product_rounding (factors d) with Some (Floating c) => [c] | _ => [] end.
Definition product_depth (d : design) : nat := length (product_conversion d).

Definition rounded_ok (d : design) : bool :=
  block_good (sums d) (c_rule d) (block d) && match cutting_of d with Whole => true | _ => false end && negb (skips d) &&
  match zero_terms (factors d), product_limit (factors d), composed d with None, None, None => true | _, _, _ => false end &&
  match product_rounding (factors d) with None => true | Some (Floating c) => monotone_conv c | _ => false end.

Definition conversions (d : design) : list conversion := product_conversion d ++ map stage_out (block_stages (sums d)).

(** Roundings on the longest path after m blocks more. *)
Fixpoint depth_after (d : design) (m : nat) (c : nat) : nat :=
  match m with O => c | S i => depth_after d i (match block_depth (sums d) (block d) (product_depth d) c with Some k => k | None => 0 end) end.

Section Designs.
Variables (F : bool) (G : R -> Prop) (Q : conversion -> Prop) (d : design).
Hypothesis (O : rounded_ok d = true) (Qc : Forall Q (conversions d)).
Notation is := (is F G Q).

Definition leaf (x : element) : Prop := match exact_term d x with Num y => G (V y) | _ => F = false end.

Lemma term_made x : leaf x -> exists y, is (product_depth d) y /\ got y = term d x /\ exact y = exact_value d x /\ size y = Rabs (exact_value d x) /\
  work y <= INR (product_depth d).
Proof.
  intros L. unfold rounded_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[B W] Sk] Z] Rp].
  destruct (zero_terms (factors d)) eqn:Zt; [easy|]. destruct (product_limit (factors d)) eqn:Pl; [easy|].
  assert (T : term d x = match exact_term d x with Num y => match product_rounding (factors d) with Some r => round_num r y | None => Num y end | v => v end).
  { unfold term, exact_term, scaled_product. cbn [zero_terms unrounded product_limit product_rounding]. change (subtracted (unrounded (factors d))) with (subtracted (factors d)). rewrite Zt, Pl.
    destruct (fold_left product (scaled_by x) _); reflexivity. }
  unfold leaf in L. unfold exact_value, product_depth, product_conversion in *. rewrite T. destruct (exact_term d x) as [y|s|]; cbn [num_of].
  - destruct (product_rounding (factors d)) as [[c|]|] eqn:Pr; try easy.
    + exists {| roundings := 1; exact := V y; size := Rabs (V y); got := round_num (Floating c) y |}. split; [|cbn; repeat split; auto; lra].
      unfold Summations.is. cbn. apply made_round; auto. unfold conversions, product_conversion in Qc. rewrite Pr in Qc. now inversion Qc.
    + exists {| roundings := 0; exact := V y; size := Rabs (V y); got := Num y |}. split; [|cbn; repeat split; auto; lra].
      unfold Summations.is. cbn. now apply made_number.
  - set (e := V _). exists {| roundings := 0; exact := e; size := Rabs e; got := Inf s |}. split; [|cbn; repeat split; auto; apply pos_INR].
    eapply is_deeper with (k := 0%nat); [|lia]. unfold Summations.is. cbn. now apply made_other.
  - set (e := V _). exists {| roundings := 0; exact := e; size := Rabs e; got := NaN |}. split; [|cbn; repeat split; auto; apply pos_INR].
    eapply is_deeper with (k := 0%nat); [|lia]. unfold Summations.is. cbn. now apply made_other.
Qed.

Lemma swapped_sum {A} (g : A -> R) l : Rsum (map g (swapped l)) = Rsum (map g l).
Proof.
  assert (H : forall n (l : list A), (length l <= n)%nat -> Rsum (map g (swapped l)) = Rsum (map g l)).
  { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; auto; cbn [length] in L; try lia.
    cbn [swapped map]. rewrite !Rsum_cons, IH by lia. ring. }
  eapply H; eauto.
Qed.

Lemma blocks_made bs : forall c k, Forall (fun b => length b = block d) bs -> Forall (Forall leaf) bs -> is k c -> flush (c_rule d) (got c) = got c ->
  exists z, is (depth_after d (length bs) k) z /\ got z = in_turn d bs (got c) /\
    exact z = exact c + Rsum (map (exact_value d) (concat bs)) /\ size z = size c + Rsum (map (fun x => Rabs (exact_value d x)) (concat bs)) /\
    work z <= work c + INR (length bs) * (INR (block d) * INR (product_depth d) + INR (block_count (sums d) (block d))).
Proof.
  pose proof O as O'. unfold rounded_ok in O'. repeat rewrite andb_true_iff in O'. destruct O' as [[[[B W] Sk] Z] Rp].
  destruct (cutting_of d) eqn:Cu; try easy. apply negb_true_iff in Sk. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  induction bs as [|b r IH]; intros c k Lb Lf Hc Fc.
  - exists c. cbn. repeat split; auto; lra.
  - apply Forall_cons_iff in Lb. destruct Lb as [Lb Lr]. apply Forall_cons_iff in Lf. destruct Lf as [Fb Fr].
    assert (Pq : exists q, Forall (is (product_depth d)) q /\ map got q = map (term d) (ordered d b) /\
      Rsum (map exact q) = Rsum (map (exact_value d) b) /\ Rsum (map size q) = Rsum (map (fun x => Rabs (exact_value d x)) b) /\
      Rsum (map work q) <= INR (length b) * INR (product_depth d)).
    { rewrite <- (swapped_sum (exact_value d) b), <- (swapped_sum (fun x => Rabs (exact_value d x)) b).
      assert (Lo : length (ordered d b) = length b) by (unfold ordered; destruct (odd_first d); auto using swapped_length).
      assert (S1 : forall g : element -> R, Rsum (map g (swapped b)) = Rsum (map g (ordered d b))).
      { intros g. unfold ordered. destruct (odd_first d); auto. apply swapped_sum. }
      rewrite !S1, <- Lo. assert (Fo : Forall leaf (ordered d b)).
      { unfold ordered. destruct (odd_first d); auto. rewrite Forall_forall in *. intros x Hx. apply Fb. now apply swapped_incl. }
      clear -Fo O Qc. induction Fo as [|x l Hx Fo IH]; [exists []; cbn; repeat split; auto; lra|].
      destruct IH as [q [Q1 [Q2 [Q3 [Q4 Q5]]]]]. destruct (term_made x Hx) as [y [Y1 [Y2 [Y3 [Y4 Y5]]]]].
      exists (y :: q). cbn [map length]. rewrite !Rsum_cons, S_INR, Q2, Q3, Q4, Y2, Y3, Y4. repeat split; auto. lra. }
    destruct Pq as [q [Q1 [Q2 [Q3 [Q4 Q5]]]]].
    assert (Lq : length q = block d) by (rewrite <- (map_length got), Q2, map_length; unfold ordered; destruct (odd_first d); rewrite ?swapped_length; auto).
    assert (Qs : Forall (fun s => Q (stage_out s)) (block_stages (sums d))).
    { unfold conversions in Qc. apply Forall_app in Qc. destruct Qc as [_ Qb]. rewrite Forall_map in Qb. exact Qb. }
    rewrite <- Lq in B.
    destruct (block_made F G Q (sums d) (c_rule d) q c (product_depth d) k (whole_factors d (ordered d b)) B Qs Q1 Hc) as [y [k' [D1 [Y1 [Y2 [Y3 [Y4 Y5]]]]]]].
    assert (Bv : block_value d (got c) b = got y).
    { unfold block_value, skipped, terms. rewrite Sk, Cu. cbn [andb fst snd]. unfold taken_c. rewrite Fc, Zt, zero_as_none, Y2, Q2. reflexivity. }
    assert (Fy : flush (c_rule d) (got y) = got y).
    { rewrite Y2. destruct (result_quiet (sums d) (c_rule d) (length q) (whole_factors d (ordered d b)) (map got q) (got c) B) as [E|E]; auto.
      exfalso. unfold block_good in B. destruct q; [|easy]. cbn in B. easy. }
    destruct (IH y k' Lr Fr Y1 Fy) as [z [Z1 [Z2 [Z3 [Z4 Z5]]]]]. exists z. cbn [length depth_after concat]. rewrite Lq in D1. rewrite D1.
    split; [exact Z1|]. split; [unfold in_turn in *; cbn [fold_left]; now rewrite Bv|].
    rewrite !map_app, !Rsum_app, Z3, Z4, Y3, Y4, Q3, Q4. split; [ring|]. split; [ring|]. rewrite S_INR. rewrite Lq, Lb in *. lra.
Qed.
End Designs.

(** A first c as the sum takes it, and full blocks. *)
Definition first_c (d : design) (w : words) : val := flush (c_rule d) (decode (c_format d) (c_word w)).
Definition full (d : design) (w : words) : Prop := Forall (fun b => length b = block d) (blocks_of_word d w).

Lemma flush_twice r v : r <> HiddenBit -> flush r (flush r v) = flush r v.
Proof.
  intros H. destruct r; try easy; [now rewrite !flush_kept| |].
  all: destruct v as [x| |]; auto; unfold flush at 2 3; destruct (is_subnormal x) eqn:S; cbn [negb];
    [reflexivity|unfold flush; now rewrite S].
Qed.

Lemma block_good_rule how r n : block_good how r n = true -> r <> HiddenBit /\ (0 < n)%nat.
Proof.
  unfold block_good. intros B. repeat rewrite andb_true_iff in B. destruct B as [[[N _] _] L]. split; [|now apply Nat.ltb_lt in N].
  destruct (last_stage how); [|easy]. apply andb_prop in L. destruct L as [_ L]. now destruct r.
Qed.

Lemma in_turn_first d w : rounded_ok d = true -> value d w = in_turn d (blocks_of_word d w) (first_c d w) \/ pairs w = [].
Proof.
  intros O. unfold rounded_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[B W] Sk] Z] Rp].
  destruct (zero_terms (factors d)) eqn:Zt; [easy|]. destruct (product_limit (factors d)); [easy|]. destruct (composed d) eqn:Co; [easy|].
  apply negb_true_iff in Sk. destruct (block_good_rule _ _ _ B) as [Rr _].
  destruct (pairs w) as [|pw rest] eqn:P; [now right|]. left. unfold value, values, blocks_of_word, in_turn, first_c. rewrite Co.
  destruct (elements d w) as [|x l] eqn:E.
  { exfalso. pose proof (elements_length d w) as L. rewrite E, P in L. easy. }
  cbn [length cut_list fold_left]. f_equal. unfold block_value, skipped. rewrite Sk. cbn [andb]. f_equal. unfold taken_c.
  rewrite Zt, !zero_as_none, flush_twice; auto.
Qed.

(** The error of exact sums, each rounded, in any order and over any number of blocks: with k roundings on the longest path,
    each of which loses u of its operand at most and h beside, |d - exact| <= ((1 + u)^k - 1) (|c| + Σ|terms|) + n h (1 + u)^k,
    n the roundings in all; h counts beside subnormal results only. *)
Theorem rounded_error_any_order d w u h z x :
  rounded_ok d = true -> 0 <= u -> 0 <= h -> Forall (fun c => share c <= u /\ flush_loss c <= h) (conversions d) ->
  pairs w <> [] -> full d w -> first_c d w = Num x -> value d w = Num z ->
  let m := length (blocks_of_word d w) in
  let k := depth_after d m 0 in
  let n := INR m * (INR (block d) * INR (product_depth d) + INR (block_count (sums d) (block d))) in
  Rabs (V z - (V x + Rsum (map (exact_value d) (elements d w)))) <=
    ((1 + u) ^ k - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (exact_value d e)) (elements d w))) + n * h * (1 + u) ^ k.
Proof.
  intros O U H Qc N Fu Fc Vz m k n.
  destruct (in_turn_first d w O) as [T|T]; [|easy]. rewrite T, Fc in Vz.
  assert (B : (0 < block d)%nat /\ c_rule d <> HiddenBit).
  { unfold rounded_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[B _] _] _] _]. destruct (block_good_rule _ _ _ B). auto. }
  destruct B as [Bn Br].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  set (c := {| roundings := 0; exact := V x; size := Rabs (V x); got := Num x |}).
  destruct (blocks_made false (fun _ => True) _ d O Qc (blocks_of_word d w) c 0) as [y [Y1 [Y2 [Y3 [Y4 Y5]]]]]; auto.
  - apply Forall_forall. intros b _. apply Forall_forall. intros e _. unfold leaf. destruct (exact_term d e); auto.
  - unfold is. cbn. apply made_number. exact I.
  - cbn [got c]. rewrite <- Fc. unfold first_c. now apply flush_twice.
  - cbn [got c] in Y2. rewrite Vz in Y2. unfold is in Y1. rewrite Y2 in Y1.
    destruct (made_error false (fun _ => True) u h U H _ _ _ _ _ Y1) as [_ E]. fold m k in E. rewrite Y3, Y4, Cc in E. cbn [exact size c] in E.
    eapply Rle_trans; [exact E|]. apply Rplus_le_compat_l. pose proof (pow_ge_1 u k U). apply Rmult_le_compat_r; [lra|].
    apply Rmult_le_compat_r; auto. unfold work in Y5 at 1 2. cbn [c roundings INR] in Y5. fold m n in Y5. lra.
Qed.

(** Integers whose magnitudes, c's among them, add up to 2^B at most are summed exactly, in every order. *)
Theorem integers_any_order d w B x :
  rounded_ok d = true -> forallb (holds_integers B) (conversions d) = true ->
  pairs w <> [] -> full d w -> first_c d w = Num x -> integer (V x) ->
  Forall (fun e => exists y, exact_term d e = Num y /\ integer (V y)) (elements d w) ->
  Rabs (V x) + Rsum (map (fun e => Rabs (exact_value d e)) (elements d w)) <= bp B ->
  exists z, value d w = Num z /\ V z = V x + Rsum (map (exact_value d) (elements d w)).
Proof.
  intros O Hc N Fu Fc Ix It A. destruct (in_turn_first d w O) as [T|T]; [|easy]. rewrite T, Fc.
  assert (Bk : (0 < block d)%nat /\ c_rule d <> HiddenBit).
  { unfold rounded_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[Bk _] _] _] _]. destruct (block_good_rule _ _ _ Bk). auto. }
  destruct Bk as [Bn Br].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  set (c := {| roundings := 0; exact := V x; size := Rabs (V x); got := Num x |}).
  assert (Qc : Forall (fun c => holds_integers B c = true) (conversions d)) by (apply Forall_forall; now apply forallb_forall).
  destruct (blocks_made true integer _ d O Qc (blocks_of_word d w) c 0) as [y [Y1 [Y2 [Y3 [Y4 Y5]]]]]; auto.
  - apply Forall_forall. intros b Hb. apply Forall_forall. intros e He. rewrite Forall_forall in It.
    destruct (It e) as [v [E I]]; [rewrite <- Cc; apply in_concat; eauto|]. unfold leaf. now rewrite E.
  - unfold is. cbn. now apply made_number.
  - cbn [got c]. rewrite <- Fc. unfold first_c. now apply flush_twice.
  - unfold is in Y1. destruct (made_integers B _ _ _ _ _ Y1) as [z [E [Vz _]]].
    + rewrite Y4, Cc. exact A.
    + exists z. cbn [got c] in Y2. rewrite <- Y2, Vz, Y3, Cc. auto.
Qed.

(** Bounds on what roundings lose, as powers of two: decided by computation. *)
Definition at_most (a b : Z) (c : conversion) : bool :=
  let s := (if nearest (rho c) then - p c - 1 else - p c)%Z in
  (s <=? a)%Z && ((if flushes c then emin c else s + emin c) <=? b)%Z.

Lemma at_most_ok a b l : forallb (at_most a b) l = true -> Forall (fun c => share c <= bp a /\ flush_loss c <= bp b) l.
Proof.
  intros H. apply Forall_forall. intros c Hc. rewrite forallb_forall in H. specialize (H c Hc). unfold at_most in H. apply andb_prop in H.
  destruct H as [H1 H2]. apply Z.leb_le in H1, H2. unfold share, flush_loss. split.
  - destruct (nearest (rho c)); now apply bpow_le.
  - unfold share. destruct (flushes c); [now apply bpow_le|]. destruct (nearest (rho c)); rewrite <- bpow_plus; now apply bpow_le.
Qed.

(** The same with powers of two as bounds of what each rounding loses. *)
Theorem rounded_error d w a b z x :
  rounded_ok d = true -> forallb (at_most a b) (conversions d) = true ->
  pairs w <> [] -> full d w -> first_c d w = Num x -> value d w = Num z ->
  let m := length (blocks_of_word d w) in
  let k := depth_after d m 0 in
  let n := INR m * (INR (block d) * INR (product_depth d) + INR (block_count (sums d) (block d))) in
  Rabs (V z - (V x + Rsum (map (exact_value d) (elements d w)))) <=
    ((1 + bp a) ^ k - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (exact_value d e)) (elements d w))) + n * bp b * (1 + bp a) ^ k.
Proof. intros O H. apply rounded_error_any_order; auto using bpow_ge_0, at_most_ok. Qed.
