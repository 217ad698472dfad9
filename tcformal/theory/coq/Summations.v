(** Every order of exact-then-rounded sums is made of roundings on paths: how many, by order of summation; the error of a
    design's result, and its sums of integers, from words. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Losses Accumulated Trees.
Import ListNotations.
Open Scope R_scope.

(** * Roundings on the longest path, by order of summation *)

(** Of n products, each with k roundings already, summed pairwise. *)
Fixpoint pairwise_depth (fuel n : nat) : nat :=
  match fuel, n with _, 1%nat => 0 | S i, _ => 1 + pairwise_depth i (Nat.div2 n + Nat.modulo n 2) | O, _ => 1 end.

Definition inner_depth (how : inner) (n : nat) : nat :=
  (match how with
  | Together => 1
  | Chain => n - 1
  | Pairwise => pairwise_depth n n
  | TwoChains => 1 + Nat.div2 (1 + n)
  | PairChains => 2 + Nat.div2 (1 + (Nat.div2 n + Nat.modulo n 2))
  end)%nat.

Fixpoint steps_depth (k c : nat) (t : steps) : nat :=
  match t with Product _ => k | C => c | PlusZero => 0 | Step _ l => 1 + fold_right Nat.max O (map (steps_depth k c) l) end.

(** Of a block of n products with k roundings and of c with some: [None] of sums of other kinds. *)
Definition block_depth (how : summation) (n k c : nat) : option nat :=
  match how with
  | OneSum _ => Some (1 + Nat.max k c)
  | FromC _ _ => Some (n + Nat.max k c)
  | CLast i _ _ => Some (1 + Nat.max (inner_depth i n + k) c)
  | InSteps t => Some (steps_depth k c t)
  | _ => None
  end%nat.

(** * Every such sum is made of roundings *)

Definition exact_stage (s : stage) : bool := match s with Stage d => exact_node d | _ => false end.
Definition stage_out (s : stage) : conversion := match s with Stage d => out d | FixedStage d _ => out d end.

Section Made.
Variables (F : bool) (G : R -> Prop) (Q : conversion -> Prop).
Notation mk := (made F G Q).

Definition good_stage (s : stage) : Prop := exact_stage s = true /\ Q (stage_out s).
Definition is (k : nat) (x : part) : Prop := mk k (roundings x) (exact x) (size x) (got x).

Definition work (x : part) : R := INR (roundings x).

Lemma is_deeper k x j : is k x -> (k <= j)%nat -> is j x.
Proof. unfold is. intros. eapply made_deeper; eauto. Qed.

(** A sum of some parts. *)
Lemma sum_made s k q : good_stage s -> Forall (is k) q ->
  exists x, is (1 + k) x /\ got x = add s (map got q) /\ exact x = Rsum (map exact q) /\ size x = Rsum (map size q) /\
    work x = 1 + Rsum (map work q).
Proof.
  assert (W : forall q, INR (fold_right Nat.add O (map roundings q)) = Rsum (map work q)).
  { induction q0 as [|y r IH]; [reflexivity|]. cbn [map fold_right]. rewrite plus_INR, IH. reflexivity. }
  intros [E H] Fq. destruct s as [d|]; [|easy].
  exists {| roundings := 1 + fold_right Nat.add O (map roundings q); exact := Rsum (map exact q); size := Rsum (map size q); got := add (Stage d) (map got q) |}.
  repeat split.
  - unfold is. cbn [roundings exact size got]. apply made_sum; auto.
  - unfold work at 1. cbn [roundings]. rewrite plus_INR, W. reflexivity.
Qed.

Lemma sum2_made s k x y : good_stage s -> is k x -> is k y ->
  exists z, is (1 + k) z /\ got z = add s [got x; got y] /\ exact z = exact x + exact y /\ size z = size x + size y /\
    work z = 1 + work x + work y.
Proof.
  intros H X Y. destruct (sum_made s k [x; y] H) as [z [A [B [C [D W]]]]]; [repeat constructor; auto|].
  exists z. rewrite C, D, W. cbn. split; [exact A|]. split; [exact B|]. repeat split; ring.
Qed.

Lemma chain_made s : good_stage s -> forall q k x, is k x -> Forall (is k) q ->
  exists z, is (length q + k) z /\ got z = chain_of s (got x) (map got q) /\ exact z = exact x + Rsum (map exact q) /\ size z = size x + Rsum (map size q) /\
    work z = work x + Rsum (map work q) + INR (length q).
Proof.
  intros H. induction q as [|y r IH]; intros k x X Fq.
  - exists x. cbn. repeat split; auto; ring.
  - apply Forall_cons_iff in Fq. destruct Fq as [Y Fr]. destruct (sum2_made s k x y H X Y) as [z [A [B [C [D W]]]]].
    destruct (IH (1 + k)%nat z A) as [w [A' [B' [C' [D' W']]]]]; [eapply Forall_impl; [|exact Fr]; intros; eapply is_deeper; eauto; lia|].
    exists w. cbn [length map chain_of fold_left]. rewrite !Rsum_cons. split; [eapply is_deeper; eauto; lia|].
    split; [rewrite B', B; reflexivity|]. split; [rewrite C', C; ring|]. split; [rewrite D', D; ring|]. rewrite W', W, S_INR. ring.
Qed.

Lemma results_made s l : good_stage s -> good_stage l -> forall q k x, is k x -> Forall (is k) q ->
  exists z, is (length q + k) z /\ got z = last (chain_results s l (got x) (map got q)) (got x) /\
    exact z = exact x + Rsum (map exact q) /\ size z = size x + Rsum (map size q) /\ work z = work x + Rsum (map work q) + INR (length q).
Proof.
  intros Hs Hl. induction q as [|y r IH]; intros k x X Fq.
  - exists x. cbn. repeat split; auto; ring.
  - apply Forall_cons_iff in Fq. destruct Fq as [Y Fr]. destruct r as [|y' r].
    + destruct (sum2_made l k x y Hl X Y) as [z [A [B [C [D W]]]]]. exists z. cbn. repeat split; auto; [rewrite C; ring|rewrite D; ring|rewrite W; ring].
    + destruct (sum2_made s k x y Hs X Y) as [z [A [B [C [D W]]]]].
      destruct (IH (1 + k)%nat z A) as [w [A' [B' [C' [D' W']]]]]; [eapply Forall_impl; [|exact Fr]; intros; eapply is_deeper; eauto; lia|].
      exists w. split; [eapply is_deeper; eauto; cbn [length]; lia|]. split.
      * rewrite B', B. cbn [map]. set (v := add s [got x; got y]).
        change (chain_results s l (got x) (got y :: got y' :: map got r)) with (v :: chain_results s l v (got y' :: map got r)).
        cbn [last]. destruct (chain_results s l v (got y' :: map got r)) eqn:E; [cbn in E; destruct (map got r); easy|].
        assert (LL : forall (a : val) m d1 d2, last (a :: m) d1 = last (a :: m) d2) by
          (intros a m; revert a; induction m as [|b m IHm]; intros a d1 d2; [reflexivity|exact (IHm b d1 d2)]).
        apply LL.
      * rewrite !(map_cons exact), !(map_cons size), !(map_cons work), !Rsum_cons in *.
        split; [rewrite C', C; ring|]. split; [rewrite D', D; ring|]. rewrite W', W. change (length (y :: y' :: r)) with (S (length (y' :: r))). rewrite S_INR. ring.
Qed.

Lemma pairs_made s : good_stage s -> forall n q k, (length q <= n)%nat -> Forall (is k) q ->
  exists r, Forall (is (1 + k)) r /\ map got r = add_pairs s (map got q) /\ Rsum (map exact r) = Rsum (map exact q) /\
    Rsum (map size r) = Rsum (map size q) /\ Rsum (map work r) + INR (length r) = Rsum (map work q) + INR (length q) /\ length r = (Nat.div2 (length q) + Nat.modulo (length q) 2)%nat.
Proof.
  intros H. induction n as [|n IH]; intros q k L Fq.
  - destruct q; [|cbn in L; lia]. exists []. repeat split; auto.
  - destruct q as [|x [|y r]].
    + exists []. repeat split; auto.
    + exists [x]. apply Forall_cons_iff in Fq. destruct Fq as [X _]. repeat split; auto. constructor; auto. eapply is_deeper; eauto.
    + apply Forall_cons_iff in Fq. destruct Fq as [X Fq]. apply Forall_cons_iff in Fq. destruct Fq as [Y Fr].
      destruct (sum2_made s k x y H X Y) as [z [A [B [C [D W]]]]]. destruct (IH r k) as [r' [A' [B' [C' [D' [W' E']]]]]]; [cbn in L; lia|auto|].
      exists (z :: r'). split; [constructor; auto|]. cbn [map]. split; [cbn; rewrite B', B; reflexivity|].
      rewrite !Rsum_cons, C', D', C, D. split; [ring|]. split; [ring|]. cbn [length]. rewrite !S_INR, W. split; [lra|]. rewrite E'.
      change (Nat.div2 (S (S (length r)))) with (S (Nat.div2 (length r))).
      replace (S (S (length r))) with (length r + 1 * 2)%nat by lia. rewrite Nat.mod_add by lia. lia.
Qed.

Lemma pairwise_made s : good_stage s -> forall i q k, Forall (is k) q ->
  exists z, is (pairwise_depth i (length q) + k) z /\ got z = pairwise i s (map got q) /\ exact z = Rsum (map exact q) /\ size z = Rsum (map size q) /\
    work z <= 1 + Rsum (map work q) + INR (length q).
Proof.
  intros H. assert (One : forall i x k, is k x -> exists z, is (pairwise_depth i (length [x]) + k) z /\ got z = pairwise i s (map got [x]) /\
    exact z = Rsum (map exact [x]) /\ size z = Rsum (map size [x]) /\ work z <= 1 + Rsum (map work [x]) + INR (length [x])).
  { intros i x k X. exists x. destruct i; cbn; repeat split; auto; try ring; lra. }
  induction i as [|i IH]; intros q k Fq.
  - destruct q as [|x [|y r]].
    + destruct (sum_made s k [] H) as [z [A [B [C [D W]]]]]; [constructor|]. exists z. repeat split; auto. rewrite W. cbn. lra.
    + apply One. now apply Forall_cons_iff in Fq.
    + destruct (sum_made s k (x :: y :: r) H Fq) as [z [A [B [C [D W]]]]]. exists z. repeat split; auto. rewrite W. pose proof (pos_INR (length (x :: y :: r))). lra.
  - destruct q as [|x [|y r]].
    + destruct (IH [] (1 + k)%nat) as [z [A Z]]; [constructor|]. exists z. split; [|exact Z].
      replace (pairwise_depth (S i) (length []) + k)%nat with (pairwise_depth i (length (@nil part)) + (1 + k))%nat by (cbn; destruct i; cbn; lia).
      exact A.
    + apply One. now apply Forall_cons_iff in Fq.
    + set (q := x :: y :: r) in *. destruct (pairs_made s H (length q) q k (le_n _) Fq) as [q' [A [B [C [D [W E]]]]]].
      destruct (IH q' (1 + k)%nat A) as [z [A' [B' [C' [D' W']]]]]. exists z. split; [|split; [|split; [congruence|split; [congruence|lra]]]].
      * replace (pairwise_depth (S i) (length q) + k)%nat with (pairwise_depth i (length q') + (1 + k))%nat; auto.
        rewrite E. unfold q. cbn [length]. cbn [pairwise_depth]. lia.
      * rewrite B', B. reflexivity.
Qed.

Lemma zero_made s : good_stage s -> exists x, is 0 x /\ got x = zero_of (stage_rounding s) /\ exact x = 0 /\ size x = 0 /\ work x = 0.
Proof.
  intros [E _]. destruct s as [d|]; [|easy]. cbn [stage_rounding zero_of].
  exists {| roundings := 0; exact := 0; size := 0; got := Num {| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |} |}.
  repeat split. unfold is. cbn. apply made_nothing. unfold V, signed. cbn. ring.
Qed.

(** Even and odd ones of some terms. *)
Lemma sides_sum : forall n (q : list part), (length q <= n)%nat ->
  (forall g : part -> R, Rsum (map g (evens q)) + Rsum (map g (odds q)) = Rsum (map g q)) /\
  (length (evens q) <= Nat.div2 (1 + length q))%nat /\ (length (odds q) <= Nat.div2 (1 + length q))%nat /\
  (forall P : part -> Prop, Forall P q -> Forall P (evens q) /\ Forall P (odds q)).
Proof.
  unfold evens, odds. induction n as [|n IH]; intros q L.
  - destruct q; [|cbn in L; lia]. cbn. repeat split; auto; intros; ring.
  - destruct q as [|x [|y r]]; cbn [length] in L.
    + cbn. repeat split; auto; intros; ring.
    + cbn. repeat split; auto; intros; ring.
    + destruct (IH r) as [I1 [I2 [I3 I4]]]; [lia|].
      change (every_second (x :: y :: r)) with (x :: every_second r). cbn [tl].
      assert (O : every_second (y :: r) = y :: every_second (tl r)) by (destruct r; auto). rewrite O. cbn [length].
      change (Nat.div2 (1 + S (S (length r)))) with (S (Nat.div2 (1 + length r))). split; [|split; [lia|split; [lia|]]].
      * intros g. cbn [map]. rewrite !Rsum_cons. specialize (I1 g). lra.
      * intros P Fq. apply Forall_cons_iff in Fq. destruct Fq as [X Fq]. apply Forall_cons_iff in Fq. destruct Fq as [Y Fr].
        destruct (I4 P Fr). split; constructor; auto.
Qed.

Lemma two_chains_made s k q : good_stage s -> Forall (is k) q ->
  exists z, is (1 + Nat.div2 (1 + length q) + k) z /\ got z = two_chains s (map got q) /\ exact z = Rsum (map exact q) /\ size z = Rsum (map size q) /\
    work z = 1 + Rsum (map work q) + INR (length q).
Proof.
  intros H Fq. destruct (sides_sum (length q) q (le_n _)) as [S1 [S2 [S3 S4]]]. destruct (S4 _ Fq) as [Fe Fo].
  destruct (zero_made s H) as [x0 [Z1 [Z2 [Z3 [Z4 Z5]]]]].
  destruct (chain_made s H (evens q) k x0) as [a [A1 [A2 [A3 [A4 A5]]]]]; auto; [eapply is_deeper; eauto; lia|].
  destruct (chain_made s H (odds q) k x0) as [b [B1 [B2 [B3 [B4 B5]]]]]; auto; [eapply is_deeper; eauto; lia|].
  destruct (sum2_made s (Nat.div2 (1 + length q) + k) a b H) as [z [C1 [C2 [C3 [C4 C5]]]]]; [eapply is_deeper; eauto; lia|eapply is_deeper; eauto; lia|].
  exists z. split; [exact C1|]. split; [|split; [|split]].
  - rewrite C2, A2, B2, Z2. unfold two_chains. now rewrite evens_map, odds_map.
  - rewrite C3, A3, B3, Z3, <- (S1 exact). ring.
  - rewrite C4, A4, B4, Z4, <- (S1 size). ring.
  - rewrite C5, A5, B5, Z5, <- (S1 work). assert (LL : INR (length (evens q)) + INR (length (odds q)) = INR (length q)).
    { assert (O : forall l : list part, INR (length l) = Rsum (map (fun _ => 1) l)).
      { induction l; [reflexivity|]. cbn [length map]. rewrite S_INR, Rsum_cons, IHl. ring. }
      rewrite !O. apply (S1 (fun _ => 1)). }
    lra.
Qed.

Lemma inner_made how s k q : good_stage s -> q <> [] -> Forall (is k) q ->
  exists z, is (inner_depth how (length q) + k) z /\ got z = inner_sum how s None (map got q) /\ exact z = Rsum (map exact q) /\ size z = Rsum (map size q) /\
    work z <= 1 + Rsum (map work q) + INR (length q).
Proof.
  intros H N Fq. destruct how; cbn [inner_sum inner_depth add_from].
  - destruct (sum_made s k q H Fq) as [z [A [B [C [D W]]]]]. exists z. repeat split; auto. rewrite W. pose proof (pos_INR (length q)). lra.
  - destruct q as [|x r]; [easy|]. apply Forall_cons_iff in Fq. destruct Fq as [X Fr].
    destruct (chain_made s H r k x X Fr) as [z [A [B [C [D W]]]]]. exists z. cbn [length map]. rewrite !Rsum_cons, S_INR.
    replace (S (length r) - 1 + k)%nat with (length r + k)%nat by lia. repeat split; auto. rewrite W. lra.
  - destruct (pairwise_made s H (length q) q k Fq) as [z Z]. exists z. rewrite map_length. exact Z.
  - destruct (two_chains_made s k q H Fq) as [z [A [B [C [D W]]]]]. exists z. repeat split; auto. lra.
  - destruct (pairs_made s H (length q) q k (le_n _) Fq) as [q' [A [B [C [D [W E]]]]]].
    destruct (two_chains_made s (1 + k) q' H A) as [z [A' [B' [C' [D' W']]]]]. exists z. rewrite <- E, <- B.
    split; [eapply is_deeper; eauto; lia|]. split; auto. split; [congruence|]. split; [congruence|]. lra.
Qed.

(** ** Trees of steps; what a subnormal partial sum counts as changes nothing where sums are not subnormal *)

Definition quiet_stage (r : flush_rule) (s : stage) : bool :=
  match r with Kept => true | HiddenBit => false | _ => flushes (stage_out s) end.

Lemma flushed_result c s n u z r : monotone_conv c = true -> (emin c <= emax c)%Z -> flushes c = true -> r <> HiddenBit ->
  convert c s n u = Num z -> V z <> 0 -> flush r (Num z) = Num z.
Proof.
  intros M E Fl R H NZ. assert (P : (0 <= p c)%Z) by (unfold monotone_conv in M; apply andb_prop in M; lia).
  unfold flush. destruct (is_subnormal z) eqn:S; [|reflexivity]. exfalso.
  unfold is_subnormal in S. apply andb_prop in S. destruct S as [S1 S2]. apply Z.ltb_lt in S2. apply negb_true_iff in S1. unfold is_zero in S1. apply Z.eqb_neq in S1.
  unfold convert in H. rewrite Fl in H. set (q := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct (Z.eqb_spec q 0) as [q0|q0]; cbn [orb andb] in H; [injection H as <-; now cbn in S1|].
  destruct (Z.ltb_spec (Z.log2 (Z.abs q) + ex) (emin c)) as [L|L]; cbn [orb] in H; [injection H as <-; now cbn in S1|].
  destruct (tiny c && is_tiny c n u); [injection H as <-; now cbn in S1|].
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs q) + ex)).
  - destruct (is_infinite c n); [easy|]. injection H as <-. cbn [sig frac] in S2.
    assert (Z.log2 (2 ^ (p c + 1) - 1) = p c).
    { replace (2 ^ (p c + 1) - 1)%Z with (Z.pred (2 ^ (p c + 1))) by lia. rewrite Z.log2_pred_pow2 by lia. lia. }
    lia.
  - injection H as <-. cbn [sig frac] in S2. lia.
Qed.

Fixpoint steps_good (r : flush_rule) (n : nat) (t : steps) : bool :=
  match t with
  | Product k => (k <? n)%nat
  | C => true
  | PlusZero => false
  | Step s l => exact_stage s && forallb (fun x => match x with PlusZero => true | _ => steps_good r n x end && match x with Step s' _ => quiet_stage r s' | _ => true end) l
  end.

Fixpoint leaves (c : bool) (t : steps) : list nat :=
  match t with Product k => if c then [] else [k] | C => if c then [O] else [] | PlusZero => [] | Step _ l => concat (map (leaves c) l) end.

Fixpoint stages (t : steps) : list stage := match t with Step s l => s :: concat (map stages l) | _ => [] end.

Lemma quiet_flush r s vs : exact_stage s = true -> (emin (stage_out s) <= emax (stage_out s))%Z -> quiet_stage r s = true ->
  exists v, flush r (add s vs) = v /\ (v = add s vs).
Proof.
  intros X E H. eexists. split; [reflexivity|]. destruct s as [d|]; [|easy]. cbn [exact_stage stage_out] in *. cbn [add].
  assert (M : monotone_conv (out d) = true) by (unfold exact_node in X; now destruct (fraction_bits d), (carry_bits d)).
  destruct r; cbn [quiet_stage stage_out] in H; try easy; [apply flush_kept| |].
  all: unfold sum_values; destruct (numbers vs); [|destruct (special_sum vs) eqn:Sp; auto; exfalso; now apply (special_not_num vs x)];
    unfold sum_numbers; destruct (convert (out d) _ _ _) as [z| |] eqn:Cv; auto;
    destruct (Req_dec (V z) 0) as [V0|V0]; [|eapply flushed_result; eauto; easy];
    unfold flush; assert (S : is_subnormal z = false); [|now rewrite S];
    unfold is_subnormal; assert (Z : is_zero z = true); [|now rewrite Z];
    unfold is_zero; apply Z.eqb_eq; unfold V, signed in V0; pose proof (bpow_gt_0 radix2 (lsb z));
    apply Rmult_integral in V0; destruct V0 as [V0|V0]; [|lra]; apply eq_IZR in V0; destruct (neg z); lia.
Qed.

(** The numbers that a tree of steps is made of. *)
Fixpoint leaf_sum (g : part -> R) (q : list part) (c : part) (t : steps) : R :=
  match t with Product k => g (nth k q c) | C => g c | PlusZero => 0 | Step _ l => Rsum (map (leaf_sum g q c) l) end.

Fixpoint steps_count (t : steps) : nat := match t with Step _ l => 1 + fold_right Nat.add O (map steps_count l) | _ => 0 end.

Definition ready (s : stage) : Prop := Q (stage_out s) /\ (emin (stage_out s) <= emax (stage_out s))%Z.

Lemma fold_max_in (g : steps -> nat) l x : In x l -> (g x <= fold_right Nat.max O (map g l))%nat.
Proof. induction l; cbn; [easy|]. intros [->|I]; [lia|]. specialize (IHl I). lia. Qed.

Lemma steps_made r q c kp kc : Forall (is kp) q -> is kc c -> forall t, steps_good r (length q) t = true -> Forall ready (stages t) ->
  exists z, is (steps_depth kp kc t) z /\ got z = eval_steps r (map got q) (got c) t /\ exact z = leaf_sum exact q c t /\ size z = leaf_sum size q c t /\
    work z = leaf_sum work q c t + INR (steps_count t).
Proof.
  intros Fq Hc. induction t as [k| | |s l IH] using steps_ind'; intros Gd Rd.
  - exists (nth k q c). cbn [steps_good] in Gd. apply Nat.ltb_lt in Gd. cbn [steps_depth eval_steps leaf_sum steps_count INR].
    split; [rewrite Forall_forall in Fq; apply Fq; now apply nth_In|]. split; [|repeat split; ring].
    rewrite (nth_indep (map got q) NaN (got c)) by (now rewrite map_length). now rewrite map_nth.
  - exists c. cbn. repeat split; auto; ring.
  - exists {| roundings := 0; exact := 0; size := 0; got := NaN |}. cbn [steps_good] in Gd. discriminate Gd.
  - cbn [steps_good stages] in Gd, Rd. apply andb_prop in Gd. destruct Gd as [Gs Gl]. apply Forall_cons_iff in Rd. destruct Rd as [Rs Rl].
    assert (Ch : exists ps, Forall (is (fold_right Nat.max O (map (steps_depth kp kc) l))) ps /\
      map got ps = map (fun x => let v := eval_steps r (map got q) (got c) x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s) | _ => v end) l /\
      Rsum (map exact ps) = Rsum (map (leaf_sum exact q c) l) /\ Rsum (map size ps) = Rsum (map (leaf_sum size q c) l) /\
      Rsum (map work ps) = Rsum (map (leaf_sum work q c) l) + INR (fold_right Nat.add O (map steps_count l))).
    { set (K := fold_right Nat.max O (map (steps_depth kp kc) l)).
      assert (Kl : forall x, In x l -> (steps_depth kp kc x <= K)%nat) by (intros; now apply fold_max_in). clearbody K.
      induction l as [|x l IHl]; [exists []; cbn; repeat split; auto; ring|].
      apply Forall_cons_iff in IH. destruct IH as [Ix Il]. cbn [forallb map concat] in Gl, Rl. apply andb_prop in Gl. destruct Gl as [Gx Gl].
      apply Forall_app in Rl. destruct Rl as [Rx Rl]. destruct (IHl Il Gl Rl) as [ps [P1 [P2 [P3 [P4 P5]]]]]; [intros; apply Kl; now right|].
      apply andb_prop in Gx. destruct Gx as [Gx Gq].
      assert (X : exists z, is K z /\ got z = (let v := eval_steps r (map got q) (got c) x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s) | _ => v end) /\
         exact z = leaf_sum exact q c x /\ size z = leaf_sum size q c x /\ work z = leaf_sum work q c x + INR (steps_count x)).
      { destruct x as [k| | |s' l'].
        - destruct (Ix Gx Rx) as [z [A B]]. exists z. split; [eapply is_deeper; eauto; apply Kl; now left|exact B].
        - destruct (Ix Gx Rx) as [z [A B]]. exists z. split; [eapply is_deeper; eauto; apply Kl; now left|exact B].
        - destruct (zero_made s) as [z [A [B [C [D W]]]]]; [split; auto; apply Rs|]. exists z. cbn. split; [eapply is_deeper; eauto; lia|].
          rewrite C, D, W. repeat split; auto; ring.
        - destruct (Ix Gx Rx) as [z [A [B C]]]. exists z. split; [eapply is_deeper; eauto; apply Kl; now left|]. split; [|exact C].
          rewrite B.
          cbn [stages] in Rx. apply Forall_cons_iff in Rx. destruct Rx as [Rx _].
          cbn [steps_good] in Gx. apply andb_prop in Gx. destruct Gx as [Gx _].
          destruct (quiet_flush r s' (map (fun x => let v := eval_steps r (map got q) (got c) x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s') | _ => v end) l') Gx (proj2 Rx) Gq) as [v [V1 V2]].
          rewrite V2 in V1. exact (eq_sym V1). }
      destruct X as [z [Z1 [Z2 [Z3 [Z4 Z5]]]]]. exists (z :: ps). split; [constructor; auto|]. cbn [map fold_right]. rewrite !Rsum_cons, plus_INR, Z2, Z3, Z4, Z5, P2, P3, P4, P5.
      repeat split; ring. }
    destruct Ch as [ps [P1 [P2 [P3 [P4 P5]]]]]. destruct (sum_made s _ ps (conj Gs (proj1 Rs)) P1) as [z [A [B [C [D W]]]]].
    exists z. cbn [steps_depth eval_steps leaf_sum steps_count]. split; [exact A|]. split; [rewrite B, P2; reflexivity|].
    split; [congruence|]. split; [congruence|]. rewrite W, P5, plus_INR. cbn [INR]. ring.
Qed.
End Made.
