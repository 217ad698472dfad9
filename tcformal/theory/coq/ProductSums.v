(** Sums of products alone, and of such a sum and c: carry bits that are enough, the exponent of zeros. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes.
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

(** And of the sum of two, the sum of all products and c. *)
Definition map_products (g h : nat -> sum -> sum) (n : nat) (how : summation) : summation :=
  match how with
  | CLast Together (Stage s) (Stage l) => CLast Together (Stage (g n s)) (Stage (h 2%nat l))
  | InSteps t => InSteps (map_leaf_sums g t)
  | _ => how
  end.

(** A product, or a zero that a sum begins with. *)
Definition leaf_val (t : facts) (v : val) : Prop :=
  forall x, v = Num x -> fits' (most t, bits t) x /\ low t <= exp x \/ is_zero x = true.

(** What is known of a sum of products and of c, where these are added by themselves. *)
Definition last_facts (d : design) : facts :=
  match sums d with
  | CLast _ (Stage s) (Stage l) =>
      let w := Z.max (p (out s)) (Z.max (fbits (start_format d)) (p (out l))) in
      {| most := 2 ^ (w + 1) - 1; bits := w; low := Z.min (emin (out s)) (Z.min (least (start_format d)) (emin (out l))) |}
  | _ => {| most := 0; bits := 0; low := 0 |}
  end.

Definition last_ok (d : design) : bool :=
  match sums d with
  | CLast Together (Stage s) (Stage l) => (0 <=? p (out s)) && (0 <=? p (out l)) && (emin (out s) <=? emax (out s)) && (emin (out l) <=? emax (out l))
  | _ => true
  end.

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

Variable h : nat -> sum -> sum.
Variable d : design.
Hypothesis H : forall s vs, length vs = 2%nat -> Forall (leaf_val (last_facts d)) vs -> sum_values (h 2%nat s) vs = sum_values s vs.

Lemma sum_leaf s l u vs : sums d = CLast Together (Stage s) (Stage l) -> last_ok d = true -> u = s \/ u = l -> leaf_val (last_facts d) (sum_values u vs).
Proof.
  intros S O U x Hx. unfold last_ok in O. rewrite S in O. repeat rewrite andb_true_iff in O. destruct O as [[[P1 P2] M1] M2]. left.
  unfold last_facts. rewrite S. cbn [most bits low]. unfold sum_values in Hx. destruct (numbers vs); [|exfalso; now apply (special_not_num vs x)].
  unfold sum_numbers in Hx. set (w := Z.max _ _). split.
  - destruct U as [-> | ->]; eapply convert_fits; eauto; unfold w; lia.
  - pose proof (convert_exp_min _ _ _ _ _ Hx). destruct U as [-> | ->]; lia.
Qed.

Lemma leaf_block n r fs ps c : last_ok d = true -> Forall (leaf_val t) ps -> (length ps <= n)%nat -> (match sums d with CLast _ _ _ => leaf_val (last_facts d) c | _ => True end) ->
  block_sum (map_products g h n (sums d)) r None fs ps c = block_sum (sums d) r None fs ps c.
Proof.
  intros O F L C. destruct (sums d) as [| | | | | | |i s l|u] eqn:S; auto; cbn [map_products].
  - destruct i, s as [s|], l as [l|]; auto. cbn [block_sum inner_sum add_from add]. rewrite G by auto. apply H; auto.
    constructor; [|constructor; [exact C|constructor]]. eapply sum_leaf; eauto.
  - cbn [block_sum]. now apply leaf_steps.
Qed.

Definition c_leaf (v : val) : Prop := match sums d with CLast Together (Stage _) (Stage _) => leaf_val (last_facts d) v | _ => True end.

Theorem products_alike w : term_facts d = Some t -> cutting_of d = Whole -> skips d = false -> one_nan d = true -> parts_ok d = true -> (0 <? Z.of_nat (block d)) = true ->
  kept_or_zero (c_rule d) = true -> format_ok (start_format d) = true -> last_ok d = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (map_products g h (block d) (sums d))) w.
Proof.
  intros T W Sk ON PO B Kc Oc LO N. symmetry. set (d' := with_sums d (map_products g h (block d) (sums d))).
  assert (Cf : forall v, c_leaf v -> c_leaf (flush (c_rule d) v)).
  { intros v Cv. unfold c_leaf in *. destruct (sums d) as [| | | | | | |[| | | |] [s|] [l|]|]; auto. intros x Hx. destruct v as [y| |]; try easy. unfold flush in Hx.
    destruct (negb (is_subnormal y)); [now apply (Cv x)|]. destruct (c_rule d); try easy; [now apply (Cv x)| |]; injection Hx as <-; right; reflexivity. }
  apply (compute_alike d d' c_leaf); auto; [repeat split|lia| |].
  - intros b v Lb Hb Cv. unfold block_value, skipped. change (skips d') with (skips d). rewrite Sk. cbn [andb].
    change (taken_c d' v) with (taken_c d v). change (ordered d' b) with (ordered d b). change (c_rule d') with (c_rule d).
    unfold terms. change (cutting_of d') with (cutting_of d). rewrite W. cbn [fst snd].
    change (map _ (ordered d b)) with (block_products d b). change (map _ (ordered d' b)) with (block_products d b).
    change (sums d') with (map_products g h (block d) (sums d)).
    assert (Wf : whole_factors d' (ordered d b) = whole_factors d (ordered d b)).
    { unfold whole_factors. change (sums d') with (map_products g h (block d) (sums d)). destruct (sums d) as [| | | | | | |i s l|]; auto. cbn [map_products]. destruct i, s, l; auto. }
    rewrite Wf. pose proof (term_facts_zero d t T) as Zt. assert (Tc : taken_c d v = flush (c_rule d) v) by now apply taken_kept. rewrite Tc. split.
    + destruct (sums d) as [| | | | | | |[| | | |] [s|] [l|]|] eqn:S; auto; rewrite <- S.
      * apply leaf_block; auto.
        -- eapply Forall_impl; [|apply (block_products_has d t b T Hb)]. intros a Ha x Hx. left. pose proof (Ha x Hx) as Q. split; [now apply has_fits|apply Q].
        -- now rewrite block_products_length.
        -- rewrite S. specialize (Cf v Cv). unfold c_leaf in Cf. now rewrite S in Cf.
      * apply leaf_block; auto.
        -- eapply Forall_impl; [|apply (block_products_has d t b T Hb)]. intros a Ha x Hx. left. pose proof (Ha x Hx) as Q. split; [now apply has_fits|apply Q].
        -- now rewrite block_products_length.
        -- now rewrite S.
    + unfold c_leaf. destruct (sums d) as [| | | | | | |[| | | |] [s|] [l|]|] eqn:S; auto. cbn [block_sum add]. apply (sum_leaf s l); auto.
  - unfold c_leaf. destruct (sums d) as [| | | | | | |[| | | |] [s|] [l|]|] eqn:S; auto. intros x Hx. left. unfold last_facts. rewrite S. cbn [most bits low].
    unfold last_ok in LO. rewrite S in LO. repeat rewrite andb_true_iff in LO. destruct LO as [[[P1 P2] M1] M2].
    set (w' := Z.max _ _). assert (Q : forall f word, format_ok f = true -> fbits f <= w' -> decode f word = Num x -> fits' (2 ^ (w' + 1) - 1, w') x /\ least f <= exp x).
    { intros f word F Lw Dw. split; [apply (decode_fits f word x w' F Lw Dw)|]. now destruct (decode_num _ _ _ F Dw) as [_ [_ [? _]]]. }
    destruct (Q _ _ Oc ltac:(unfold w'; lia) Hx) as [Q1 Q2]. split; [exact Q1|lia].
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

Lemma product_count t s f e x : symmetric (alignment s) = true -> fits' (most t, bits t) x -> exp x <= e -> Z.abs (cut (alignment s) (e - f) x) <= top_count t s f.
Proof.
  intros S [H L] E. cbn [fst snd] in L. unfold cut, top_count, lsb. set (m := alignment s) in *. set (k := e - f - (exp x - frac x)).
  assert (A : 0 <= round_div m (sig x) k).
  { rewrite <- (round_div_0 m 0). apply round_div_le. rewrite Rmult_0_l. apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]. }
  assert (A2 : round_div m (sig x) k <= round_div m (most t) (bits t - f)).
  { apply round_div_le. replace (- (bits t - f)) with (- bits t + f) by lia. replace (- k) with (- frac x + (f - (e - exp x))) by (unfold k; lia).
    rewrite !bpow_plus, <- !Rmult_assoc. apply Rmult_le_compat; [apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]|apply bpow_ge_0|exact L|apply bpow_le; lia]. }
  unfold signed. destruct (neg x); [rewrite round_div_opp by exact S|]; lia.
Qed.

Lemma drop_carry_same t n s vs : (length vs <= n)%nat -> Forall (leaf_val t) vs -> sum_values (drop_carry t n s) vs = sum_values s vs.
Proof.
  intros L F. unfold drop_carry. destruct (carry_bits s) as [k|] eqn:K; auto. destruct (fraction_bits s) as [f|] eqn:Ff; auto. destruct (_ && _) eqn:O; auto.
  repeat rewrite andb_true_iff in O. destruct O as [[[[[S Nn] F0] K0] M0] O]. apply negb_true_iff in Nn. apply Z.leb_le in F0, K0, M0. apply Z.ltb_lt in O.
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:N; auto.
  assert (Ts : Forall (fun x => fits' (most t, bits t) x /\ low t <= exp x \/ is_zero x = true) ts /\ (length ts <= n)%nat).
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
        { destruct (is_zero x) eqn:Zx; [rewrite cut_zero by auto; lia|]. destruct Hx as [Hx|Hx]; [|congruence]. destruct H1 as [H1|H1]; [congruence|]. destruct Hx. now apply product_count. }
        lia.
      - assert (Az : forallb is_zero ts = true) by (apply forallb_forall; intros x Hx; now apply (largest_none s ts)).
        rewrite zeros_count, zsum_zeros by auto. lia. }
    assert (Z.of_nat (length ts) * top_count t s f <= Z.of_nat n * top_count t s f) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  unfold sum_numbers. rewrite T. reflexivity.
Qed.

Lemma drop_carry_out t n s : out (drop_carry t n s) = out s.
Proof. unfold drop_carry. destruct (carry_bits s), (fraction_bits s); auto. now destruct (_ && _). Qed.

(** * The exponent of zeros *)

(** Designs whose products are summed by themselves. *)
Definition products_apart (d : design) : bool :=
  match cutting_of d with Whole => true | _ => false end && negb (skips d) && one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) &&
  kept_or_zero (c_rule d) && format_ok (start_format d) && last_ok d.

Theorem product_carry_idle d t w : term_facts d = Some t -> products_apart d = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (map_products (drop_carry t) (drop_carry (last_facts d)) (block d) (sums d))) w.
Proof.
  intros T O N. unfold products_apart in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[W Sk] ON] PO] B] Kc] Oc] LO]. destruct (cutting_of d) eqn:Cu; try easy.
  apply negb_true_iff in Sk. apply (products_alike t (drop_carry t)); auto using drop_carry_same, drop_carry_out.
  intros s vs L F. apply drop_carry_same; auto. lia.
Qed.

(** So many carry bits of the sum of products and of that with c, which have no bound in the design, change nothing. *)
Definition with_product_carry (d : design) (k : Z) : design :=
  with_sums d (map_products (fun _ s => with_carry s (Some k)) (fun _ s => with_carry s (Some k)) (block d) (sums d)).

Definition unbound (s : sum) : bool := match carry_bits s with None => true | _ => false end.

Definition product_carry_enough (d : design) (k : Z) : bool :=
  match sums d, term_facts d with
  | CLast Together (Stage s) (Stage l), Some t => products_apart d && unbound s && unbound l &&
      unbound (drop_carry t (block d) (with_carry s (Some k))) && unbound (drop_carry (last_facts d) 2 (with_carry l (Some k)))
  | _, _ => false
  end.

Lemma drop_added t n s k : unbound s = true -> unbound (drop_carry t n (with_carry s (Some k))) = true -> drop_carry t n (with_carry s (Some k)) = s.
Proof.
  unfold unbound, drop_carry. destruct (carry_bits s) eqn:Ks; [easy|]. intros _. cbn [carry_bits with_carry fraction_bits]. destruct (fraction_bits s); [|easy].
  destruct (_ && _); [|easy]. intros _. destruct s. cbn in *. now subst.
Qed.

Theorem product_carry_suffices d k w : product_carry_enough d k = true -> pairs w <> [] -> compute (with_product_carry d k) w = compute d w.
Proof.
  intros O N. unfold product_carry_enough in O. destruct (sums d) as [| | | | | | |[| | | |] [s|] [l|]|] eqn:S; try easy. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[[PA Ks] Kl] Ds] Dl].
  assert (E : sums (with_product_carry d k) = CLast Together (Stage (with_carry s (Some k))) (Stage (with_carry l (Some k)))) by (unfold with_product_carry; cbn [sums with_sums]; now rewrite S).
  assert (LF : last_facts (with_product_carry d k) = last_facts d) by (unfold last_facts; now rewrite E, S).
  assert (PA' : products_apart (with_product_carry d k) = true).
  { unfold products_apart in *. assert (LO : last_ok (with_product_carry d k) = last_ok d) by (unfold last_ok; now rewrite E, S). rewrite LO. exact PA. }
  rewrite (product_carry_idle (with_product_carry d k) t w T PA' N). rewrite E, LF. change (block (with_product_carry d k)) with (block d). cbn [map_products].
  rewrite !drop_added by auto. unfold with_product_carry. f_equal. destruct d. cbn in *. unfold with_sums. cbn. now rewrite S.
Qed.
