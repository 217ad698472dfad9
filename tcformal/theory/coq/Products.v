(** Sums of products alone, without c: carry bits that are enough, the exponent of zeros. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Blocks Mirror Axes.
Import ListNotations.
Open Scope Z_scope.

Definition leaf_only (x : steps) : bool := match x with Product _ | PlusZero => true | _ => false end.

(** Another sum of so many products at most, where a sum is of products and zeros only. *)
Fixpoint map_leaf_sums (g : nat -> sum -> sum) (t : steps) : steps :=
  match t with
  | Step (Stage s) l => if forallb leaf_only l then Step (Stage (g (length l) s)) l else Step (Stage s) (map (map_leaf_sums g) l)
  | Step s l => Step s (map (map_leaf_sums g) l)
  | _ => t
  end.

Definition map_products (g : nat -> sum -> sum) (n : nat) (how : summation) : summation :=
  match how with
  | CLast Together (Stage s) l => CLast Together (Stage (g n s)) l
  | InSteps t => InSteps (map_leaf_sums g t)
  | _ => how
  end.

(** A product, or a zero that a sum begins with. *)
Definition leaf_val (t : facts) (v : val) : Prop := forall x, v = Num x -> has t x \/ is_zero x = true.

Section Leaves.
Variable t : facts.
Variable g : nat -> sum -> sum.
Hypothesis G : forall n s vs, (length vs <= n)%nat -> Forall (leaf_val t) vs -> sum_values (g n s) vs = sum_values s vs.
Hypothesis Go : forall n s, out (g n s) = out s.

Lemma leaf_steps r ps c u : Forall (leaf_val t) ps -> eval_steps r ps c (map_leaf_sums g u) = eval_steps r ps c u.
Proof.
  intros F. induction u as [k| | |s l IH] using steps_ind'; auto.
  assert (Q : forall s', stage_rounding s' = stage_rounding s -> map (fun x => let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s') | _ => v end) (map (map_leaf_sums g) l) =
    map (fun x => let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s) | _ => v end) l).
  { intros s' Es. induction IH as [|x l Hx IH IHl]; cbn [map]; auto. f_equal; [|exact IHl]. clear IHl. destruct x as [k| | |s0 l0]; auto.
    - cbn. now rewrite Es.
    - rewrite Hx. cbn [map_leaf_sums]. destruct s0; [destruct (forallb leaf_only l0)|]; reflexivity. }
  cbn [map_leaf_sums]. destruct s as [s|s x]; [|cbn [eval_steps]; now rewrite Q].
  destruct (forallb leaf_only l) eqn:L; [|cbn [eval_steps]; now rewrite Q].
  cbn [eval_steps add stage_rounding]. rewrite Go. apply G; [rewrite map_length; lia|].
  apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. rewrite forallb_forall in L. specialize (L x Hx).
  destruct x as [k| | |]; try easy; cbn [eval_steps].
  - destruct (nth_in_or_default k ps NaN) as [I|I]; [rewrite Forall_forall in F; now apply F|]. rewrite I. intros y Hy. easy.
  - intros y Hy. injection Hy as <-. right. reflexivity.
Qed.

Lemma leaf_block how n r fs ps c : Forall (leaf_val t) ps -> (length ps <= n)%nat ->
  block_sum (map_products g n how) r None fs ps c = block_sum how r None fs ps c.
Proof.
  intros F L. destruct how as [| | | | | | |i s l|u]; auto; cbn [map_products].
  - destruct i, s; auto. cbn [block_sum inner_sum add_from add]. now rewrite G.
  - cbn [block_sum]. now apply leaf_steps.
Qed.

Theorem products_alike d w : term_facts d = Some t -> cutting_of d = Whole -> one_nan d = true -> parts_ok d = true -> (0 <? Z.of_nat (block d)) = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (map_products g (block d) (sums d))) w.
Proof.
  intros T W ON PO B N. symmetry. set (d' := with_sums d (map_products g (block d) (sums d))).
  apply (compute_alike d d' (fun _ => True)); auto; [repeat split|lia|].
  intros b v Lb Hb _. split; auto. unfold block_value. change (skipped d' b) with (skipped d b). destruct (skipped d b); auto.
  change (taken_c d' v) with (taken_c d v). change (ordered d' b) with (ordered d b). change (c_rule d') with (c_rule d).
  unfold terms. change (cutting_of d') with (cutting_of d). rewrite W. cbn [fst snd].
  change (map _ (ordered d b)) with (block_products d b). change (map _ (ordered d' b)) with (block_products d b).
  change (sums d') with (map_products g (block d) (sums d)).
  assert (Wf : whole_factors d' (ordered d b) = whole_factors d (ordered d b)).
  { unfold whole_factors. change (sums d') with (map_products g (block d) (sums d)). destruct (sums d) as [| | | | | | |i s l|]; auto. cbn [map_products]. destruct i, s; auto. }
  rewrite Wf. apply leaf_block.
  - eapply Forall_impl; [|apply (block_products_has d t b T Hb)]. intros a Ha x Hx. left. now apply Ha.
  - now rewrite block_products_length.
Qed.
End Leaves.

(** * Carry bits *)

(** The largest count of a product. *)
Definition top_count (t : facts) (s : sum) (f : Z) : Z := round_div (alignment s) (most t) (bits t - f).

(** Without a bound, where the register holds every sum of so many products. *)
Definition drop_carry (t : facts) (n : nat) (s : sum) : sum :=
  match carry_bits s, fraction_bits s with
  | Some k, Some f => if symmetric (alignment s) && negb (normalise s) && (0 <=? f) && (0 <=? k) && (0 <=? most t) && (Z.of_nat n * top_count t s f <? 2 ^ (f + 1 + k))
      then with_carry s None else s
  | _, _ => s
  end.

Lemma product_count t s f e x : symmetric (alignment s) = true -> 0 <= most t -> has t x -> exp x <= e -> Z.abs (cut (alignment s) (e - f) x) <= top_count t s f.
Proof.
  intros S M [H [B L]] E. unfold cut, top_count, lsb. rewrite B. set (m := alignment s) in *. set (k := e - f - (exp x - bits t)).
  assert (A : 0 <= round_div m (sig x) k).
  { rewrite <- (round_div_0 m 0). apply round_div_le. rewrite Rmult_0_l. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]. }
  assert (A2 : round_div m (sig x) k <= round_div m (most t) (bits t - f)).
  { apply round_div_le. apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. unfold k. lia. }
  unfold signed. destruct (neg x); [rewrite round_div_opp by exact S|]; lia.
Qed.

Lemma drop_carry_same t n s vs : (length vs <= n)%nat -> Forall (leaf_val t) vs -> sum_values (drop_carry t n s) vs = sum_values s vs.
Proof.
  intros L F. unfold drop_carry. destruct (carry_bits s) as [k|] eqn:K; auto. destruct (fraction_bits s) as [f|] eqn:Ff; auto. destruct (_ && _) eqn:O; auto.
  repeat rewrite andb_true_iff in O. destruct O as [[[[[S Nn] F0] K0] M0] O]. apply negb_true_iff in Nn. apply Z.leb_le in F0, K0, M0. apply Z.ltb_lt in O.
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:N; auto.
  assert (Ts : Forall (fun x => has t x \/ is_zero x = true) ts /\ (length ts <= n)%nat).
  { unfold numbers in N. destruct (forallb is_num vs) eqn:Q; [|easy]. injection N as <-. rewrite map_length. split; auto. rewrite forallb_forall in Q.
    apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [v [<- Hv]]. specialize (Q v Hv). destruct v as [y| |]; try easy.
    rewrite Forall_forall in F. now apply (F (Num y) Hv). }
  destruct Ts as [Ts Ls].
  assert (T : total s ts = total (with_carry s None) ts).
  { unfold total. change (carry_bits (with_carry s None)) with (@None Z). change (counts (with_carry s None) ts) with (counts s ts). rewrite K, Ff.
    apply wrap_small; [lia|]. replace (1 + (f + 1 + k) - 1) with (f + 1 + k) by lia.
    assert (P0 : 0 <= top_count t s f).
    { unfold top_count. rewrite <- (round_div_0 (alignment s) 0). apply round_div_le. rewrite Rmult_0_l. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]. }
    assert (C : Z.abs (zsum (counts s ts)) <= Z.of_nat (length ts) * top_count t s f).
    { unfold counts, unit_of. rewrite Ff. destruct (largest s ts) as [e|] eqn:Le.
      - assert (B : Forall (fun x => is_zero x = true \/ exp x <= e) ts).
        { apply Forall_forall. intros x Hx. pose proof (largest_in s ts x Hx) as I. rewrite Le in I. unfold term_exponent in I. rewrite Nn in I. destruct (is_zero x); cbn in I; auto. }
        clear Le N Ls. induction Ts as [|x r Hx Ts IH]; cbn [map length]; [cbn; lia|]. inversion B; subst. change (zsum (?a :: ?l)) with (a + zsum l).
        specialize (IH H2). assert (Z.abs (cut (alignment s) (e - f) x) <= top_count t s f).
        { destruct (is_zero x) eqn:Zx; [rewrite cut_zero by auto; lia|]. destruct Hx as [Hx|Hx]; [|congruence]. destruct H1 as [H1|H1]; [congruence|]. now apply product_count. }
        lia.
      - assert (Az : forallb is_zero ts = true) by (apply forallb_forall; intros x Hx; now apply (largest_none s ts)).
        rewrite zeros_count, zsum_zeros by auto. lia. }
    assert (Z.of_nat (length ts) * top_count t s f <= Z.of_nat n * top_count t s f) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  unfold sum_numbers. rewrite T. reflexivity.
Qed.

Lemma drop_carry_out t n s : out (drop_carry t n s) = out s.
Proof. unfold drop_carry. destruct (carry_bits s), (fraction_bits s); auto. now destruct (_ && _). Qed.

(** * The exponent of zeros *)

Definition drop_zero (t : facts) (n : nat) (s : sum) : sum :=
  if zero_below s (low t) && carry_sane s && negb (normalise s) then with_zero s ZeroNone else s.

Lemma drop_zero_same t n s vs : (length vs <= n)%nat -> Forall (leaf_val t) vs -> sum_values (drop_zero t n s) vs = sum_values s vs.
Proof.
  intros _ F. unfold drop_zero. destruct (_ && _) eqn:O; auto. repeat rewrite andb_true_iff in O. destruct O as [[Z C] Nn]. apply negb_true_iff in Nn.
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:N; auto. symmetry. apply zero_exponent_irrelevant with (low t); auto.
  unfold numbers in N. destruct (forallb is_num vs) eqn:Q; [|easy]. injection N as <-. rewrite forallb_forall in Q.
  apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [v [<- Hv]]. specialize (Q v Hv). destruct v as [y| |]; try easy.
  rewrite Forall_forall in F. intros Ny. destruct (F (Num y) Hv y eq_refl) as [[_ [_ H]]|H]; [exact H|]. cbn [num_of] in Ny. congruence.
Qed.

(** Designs whose products are summed by themselves. *)
Definition products_apart (d : design) : bool :=
  match cutting_of d with Whole => true | _ => false end && one_nan d && parts_ok d && (0 <? Z.of_nat (block d)).

Theorem product_carry_idle d t w : term_facts d = Some t -> products_apart d = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (map_products (drop_carry t) (block d) (sums d))) w.
Proof.
  intros T O N. unfold products_apart in O. repeat rewrite andb_true_iff in O. destruct O as [[[W ON] PO] B]. destruct (cutting_of d) eqn:Cu; try easy.
  apply (products_alike t (drop_carry t)); auto using drop_carry_same, drop_carry_out.
Qed.

Theorem product_zero_idle d t w : term_facts d = Some t -> products_apart d = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (map_products (drop_zero t) (block d) (sums d))) w.
Proof.
  intros T O N. unfold products_apart in O. repeat rewrite andb_true_iff in O. destruct O as [[[W ON] PO] B]. destruct (cutting_of d) eqn:Cu; try easy.
  apply (products_alike t (drop_zero t)); auto using drop_zero_same. intros n s. unfold drop_zero. now destruct (_ && _).
Qed.

(** So many carry bits of the sum of products, which has no bound in the design, change nothing. *)
Definition with_product_carry (d : design) (k : Z) : design :=
  with_sums d (map_products (fun _ s => with_carry s (Some k)) (block d) (sums d)).

Definition product_carry_enough (d : design) (k : Z) : bool :=
  match sums d, term_facts d with
  | CLast Together (Stage s) _, Some t => products_apart d && match carry_bits s with None => true | _ => false end &&
      match carry_bits (drop_carry t (block d) (with_carry s (Some k))) with None => true | _ => false end
  | _, _ => false
  end.

Theorem product_carry_suffices d k w : product_carry_enough d k = true -> pairs w <> [] -> compute (with_product_carry d k) w = compute d w.
Proof.
  intros O N. unfold product_carry_enough in O. destruct (sums d) as [| | | | | | |[| | | |] [s|] l|] eqn:S; try easy. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[PA K] D]. destruct (carry_bits s) eqn:Ks; [easy|].
  assert (E : sums (with_product_carry d k) = CLast Together (Stage (with_carry s (Some k))) l) by (unfold with_product_carry; cbn [sums with_sums]; now rewrite S).
  rewrite (product_carry_idle (with_product_carry d k) t w T PA N). rewrite E. change (block (with_product_carry d k)) with (block d). cbn [map_products].
  assert (R : drop_carry t (block d) (with_carry s (Some k)) = s).
  { revert D. unfold drop_carry. cbn [carry_bits with_carry fraction_bits]. destruct (fraction_bits s); [|easy]. destruct (_ && _); [|easy]. intros _. destruct s. cbn in *. now subst. }
  rewrite R. unfold with_product_carry. f_equal. destruct d. cbn in *. unfold with_sums. cbn. now rewrite S.
Qed.
