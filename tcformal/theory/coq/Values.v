(** The value of a design's dot product apart from the words of NaNs, and what is known of the terms of its sums: how
    long their significands are and how small their exponents. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words.
Import ListNotations.
Open Scope Z_scope.

(** * The value of a result *)

(** A c as the sum takes it. *)
Definition taken_c (d : design) (v : val) : val :=
  let c := flush (c_rule d) v in zero_as (zero_terms (factors d)) (as_one (num_of c)) c.

Definition ordered (d : design) (b : list element) : list element := if odd_first d then swapped b else b.

(** Whether a block leaves its c as it is. *)
Definition skipped (d : design) (b : list element) : bool :=
  skips d && (forallb (fun x => a_word x =? 0) b || forallb (fun x => b_word x =? 0) b).

Definition block_value (d : design) (v : val) (b : list element) : val :=
  if skipped d b then v else
  block_sum (sums d) (c_rule d) (snd (terms d (ordered d b))) (whole_factors d (ordered d b)) (fst (terms d (ordered d b)))
    (taken_c d v).

Definition values (d : design) (xs : list element) (v : val) : val :=
  fold_left (block_value d) (cut_list (length xs) (block d) xs) v.

Definition at_k (xs : list element) (k : nat) : element :=
  nth k xs {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |}.

Definition parts_value (d : design) (xs : list element) (ks : list (list nat)) (v : val) : val :=
  fold_left (fun v k => values d (map (at_k xs) k) v) ks v.

Definition value (d : design) (w : words) : val :=
  let xs := elements d w in
  match composed d with
  | None => values d xs (decode (c_format d) (c_word w))
  | Some how => sum_values (addition how)
      [flush (of_sum how) (parts_value d xs (parts how) (decode (d_format d) 0)); flush (of_c how) (decode (c_format d) (c_word w))]
  end.

Lemma block_step_value d v w b : fst (block_step d (v, w) b) = block_value d v b.
Proof.
  unfold block_step, block_value, skipped, taken_c, ordered.
  destruct (skips d && _); [reflexivity|].
  destruct (terms d (if odd_first d then swapped b else b)) as [ps e]. reflexivity.
Qed.

Lemma blocks_value d xs st : fst (blocks d xs st) = values d xs (fst st).
Proof.
  unfold blocks, values. generalize (cut_list (length xs) (block d) xs) as bs. intros bs. revert st.
  induction bs as [|b r IH]; intros [v w]; [reflexivity|]. cbn [fold_left]. rewrite IH. f_equal. apply block_step_value.
Qed.

(** Every result is the word of its value; only that of a NaN depends on more. *)
Theorem compute_value d w : exists n, compute d w = encode (d_format d) n (value d w).
Proof.
  unfold compute, value. destruct (composed d) as [how|].
  - eexists. f_equal. f_equal. f_equal. f_equal. unfold parts_value.
    change (decode (d_format d) 0) with (fst (decode (d_format d) 0, 0)) at 2.
    generalize (decode (d_format d) 0, 0) as st. induction (parts how) as [|k r IH]; intros st; [reflexivity|].
    cbn [fold_left]. rewrite IH. f_equal. apply blocks_value.
  - pose proof (blocks_value d (elements d w) (start_of d (c_word w))) as B.
    destruct (blocks d (elements d w) (start_of d (c_word w))) as [v n]. simpl in B. exists n. now rewrite B.
Qed.

(** The word of every NaN result, where there is one. *)
Definition the_nan (d : design) : Z := match composed d with Some how => addition_nan how | None => nan_word d end.
Definition one_nan (d : design) : bool :=
  match composed d with Some _ => true | None => match nans d with OneWord => negb (skips d) | _ => false end end.

Lemma elements_length d w : length (elements d w) = length (pairs w).
Proof. unfold elements. rewrite map_length. rewrite <- (numbered_snd (pairs w) 0) at 2. now rewrite map_length. Qed.

(** Where all NaNs are one word, a design computes the word of its value. *)
Theorem compute_word d w : one_nan d = true -> pairs w <> [] -> compute d w = encode (d_format d) (the_nan d) (value d w).
Proof.
  intros O N. unfold one_nan in O. unfold the_nan. destruct (composed d) as [how|] eqn:C.
  - unfold compute, value. rewrite C. f_equal. f_equal. f_equal. f_equal. unfold parts_value.
    change (decode (d_format d) 0) with (fst (decode (d_format d) 0, 0)) at 2.
    generalize (decode (d_format d) 0, 0) as st. induction (parts how) as [|k r IH]; intros st; [reflexivity|].
    cbn [fold_left]. rewrite IH. f_equal. apply blocks_value.
  - destruct (nans d) eqn:Q; try easy. apply negb_true_iff in O. unfold compute, value. rewrite C.
    pose proof (blocks_value d (elements d w) (start_of d (c_word w))) as B.
    assert (L : elements d w <> []) by (intros E; apply N; apply length_zero_iff_nil; rewrite <- (elements_length d w), E; reflexivity).
    assert (G : forall bs st, bs <> [] -> let '(v, n) := fold_left (block_step d) bs st in is_nan v = true -> n = nan_word d).
    { intros bs. induction bs as [|b bs IH] using rev_ind; intros st NE; [easy|]. rewrite fold_left_app. cbn [fold_left].
      destruct (fold_left (block_step d) bs st) as [v n]. unfold block_step. rewrite O, Q. cbn [andb].
      destruct (terms d _) as [ps e]. cbv zeta.
      match goal with |- context [is_nan ?r] => destruct (is_nan r) end; simpl; [destruct (sums d); auto|easy]. }
    unfold blocks in *. specialize (G (cut_list (length (elements d w)) (block d) (elements d w)) (start_of d (c_word w))).
    destruct (fold_left _ _ _) as [v n]. cbn [fst] in B. change (fst (start_of d (c_word w))) with (decode (c_format d) (c_word w)) in B.
    rewrite <- B. destruct (is_nan v) eqn:V; [|now apply encode_not_nan].
    rewrite G; auto. destruct (elements d w); [easy|]. discriminate.
Qed.

(** * Designs of one fused sum: products, however scaled, normalised or flushed, and c *)

Definition sum_of (d : design) : option sum :=
  match sums d, cutting_of d, skips d with OneSum (Stage s), Whole, false => Some s | _, _, _ => None end.

Definition block_products (d : design) (b : list element) : list val :=
  map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)) (ordered d b).

Lemma block_value_one d s v b : sum_of d = Some s -> block_value d v b = sum_values s (block_products d b ++ [taken_c d v]).
Proof.
  unfold sum_of. intros H. destruct (sums d) as [[t|]| | | | | | | |] eqn:S; try easy.
  destruct (cutting_of d) eqn:W; try easy. destruct (skips d) eqn:K; [easy|]. injection H as ->.
  unfold block_value, skipped, terms, block_products. rewrite K, W, S. cbn [andb fst snd]. reflexivity.
Qed.

(** The same design with another sum. *)
Definition with_sum (d : design) (s : sum) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := OneSum (Stage s); nan_word := nan_word d; nans := nans d;
     composed := composed d |}.

(** * What is known of a number: at most so many fraction bits, with so many a significand of at most [most], and an
      exponent of at least [low] *)

Record facts := { most : Z; bits : Z; low : Z }.

Definition has (t : facts) (x : num) : Prop :=
  (0 <= sig x /\ sig x * 2 ^ (bits t - frac x) <= most t) /\ frac x <= bits t /\ low t <= exp x.
Definition has_val (t : facts) (v : val) : Prop := forall x, v = Num x -> has t x.

Definition format_facts (f : format) : facts := {| most := 2 ^ (fbits f + 1) - 1; bits := fbits f; low := least f |}.
Definition facts_times (s t : facts) : facts := {| most := most s * most t; bits := bits s + bits t; low := low s + low t |}.

Lemma decode_has f w : format_ok f = true -> has_val (format_facts f) (decode f w).
Proof.
  intros O x H. destruct (decode_num _ _ _ O H) as [A [B [C _]]]. unfold has. cbn [most bits low format_facts].
  rewrite B, Z.sub_diag. cbn. lia.
Qed.

Lemma times_has s t x y : has s x -> has t y -> has (facts_times s t) (times x y).
Proof.
  intros [[P A] [B C]] [[P' A'] [B' C']]. unfold has, times, facts_times; cbn [sig frac exp most bits low]. split; [|split; lia].
  split; [nia|].
  replace (bits s + bits t - (frac x + frac y)) with ((bits s - frac x) + (bits t - frac y)) by lia. rewrite Z.pow_add_r by lia.
  pose proof (Z.pow_nonneg 2 (bits s - frac x)). pose proof (Z.pow_nonneg 2 (bits t - frac y)).
  replace (sig x * sig y * (2 ^ (bits s - frac x) * 2 ^ (bits t - frac y))) with
    ((sig x * 2 ^ (bits s - frac x)) * (sig y * 2 ^ (bits t - frac y))) by ring.
  apply Z.mul_le_mono_nonneg; auto; apply Z.mul_nonneg_nonneg; auto; lia.
Qed.

Lemma product_has s t v w : has_val s v -> has_val t w -> has_val (facts_times s t) (product v w).
Proof.
  intros Hv Hw x H. apply product_num in H. destruct H as [y [z [-> [-> ->]]]]. apply times_has; auto.
Qed.

Definition kept_or_zero (r : flush_rule) : bool := match r with HiddenBit => false | _ => true end.

Lemma flush_has r t v : kept_or_zero r = true -> has_val t v -> has_val t (flush r v).
Proof.
  intros K H x E. destruct v as [y| |]; try easy. unfold flush in E. destruct (negb (is_subnormal y)).
  - now apply H.
  - specialize (H y eq_refl). destruct H as [A [B C]].
    assert (M : 0 <= most t).
    { eapply Z.le_trans; [|apply A]. apply Z.mul_nonneg_nonneg; [apply A|]. apply Z.pow_nonneg. lia. }
    destruct r; try easy; injection E as <-; unfold has; cbn [sig frac exp]; rewrite ?Z.mul_0_l; repeat split; auto; lia.
Qed.

(** A factor as it is, or converted to a format whose least exponent is no larger. *)
Definition operand_facts (d : design) (f : format) : facts :=
  {| most := 2 ^ (fbits f + 1) - 1; bits := fbits f; low := match converted d with Some g => least_exponent g | None => least f end |}.
Definition operand_ok (d : design) (f : format) : bool :=
  format_ok f && match converted d with Some g => least_exponent g <=? least f | None => true end.

Lemma in_format_has f g x : format_ok f = true -> least_exponent g <= least f -> has (format_facts f) x ->
  has {| most := 2 ^ (fbits f + 1) - 1; bits := fbits f; low := least_exponent g |} (in_format g x) /\ exp (in_format g x) <= exp x.
Proof.
  intros O L [[P A] [B C]]. cbn [most bits low format_facts] in *. unfold format_ok in O. apply andb_prop in O. destruct O as [O _]. apply Z.leb_le in O.
  unfold has, in_format, at_exponent. cbn [sig frac exp most bits low]. unfold is_zero. destruct (Z.eqb_spec (sig x) 0) as [Z0|Z0].
  - rewrite Z0 in *. rewrite Z.mul_0_l. pose proof (pow2_pos (fbits f + 1) ltac:(lia)). repeat split; lia.
  - unfold own_exponent, lsb. rewrite (Z.abs_eq (sig x)) by lia. destruct (Z.log2_spec (sig x)) as [L1 L2]; [lia|].
    pose proof (Z.log2_nonneg (sig x)) as L0. set (l := Z.log2 (sig x)) in *.
    assert (W : l - frac x <= 0).
    { assert (2 ^ (l + (fbits f - frac x)) <= 2 ^ (fbits f + 1) - 1).
      { rewrite Z.pow_add_r by lia. eapply Z.le_trans; [|exact A]. apply Z.mul_le_mono_nonneg_r; auto. apply Z.pow_nonneg. lia. }
      assert (2 ^ (l + (fbits f - frac x)) < 2 ^ (fbits f + 1)) by lia. apply Z.pow_lt_mono_r_iff in H0; lia. }
    set (e := Z.max (l + (exp x - frac x)) (least_exponent g)). assert (E1 : e <= exp x) by lia. repeat split; try lia.
    set (k := fbits f - (frac x + (e - exp x))).
    assert (K : 0 <= k /\ l + k <= fbits f) by (unfold k; lia).
    apply Z.le_trans with ((2 ^ (l + 1) - 1) * 2 ^ k).
    + apply Z.mul_le_mono_nonneg_r; [apply Z.pow_nonneg; lia|]. replace (Z.succ l) with (l + 1) in L2 by lia. lia.
    + rewrite Z.mul_sub_distr_r, <- Z.pow_add_r by lia. pose proof (pow2_pos k ltac:(lia)).
      assert (2 ^ (l + 1 + k) <= 2 ^ (fbits f + 1)) by (apply Z.pow_le_mono_r; lia). lia.
Qed.

Lemma operand_has d f w : operand_ok d f = true -> exponent_step (factors d) = 1 -> has_val (operand_facts d f) (operand d f w).
Proof.
  intros O S x H. unfold operand_ok in O. apply andb_prop in O. destruct O as [O C]. unfold operand in H. rewrite S in H. cbn [Z.eqb Pos.eqb] in H.
  unfold operand_facts. pose proof (decode_has f w O) as D. destruct (converted d) as [g|]; [|exact (D x H)].
  destruct (decode f w) as [y| |]; try easy. injection H as <-. apply Z.leb_le in C. now apply in_format_has; [| |apply D].
Qed.

(** Normalised factors have exponents that are lower by up to their fraction bits. *)
Definition facts_normal (t : facts) (normal : bool) : facts :=
  {| most := most t; bits := bits t; low := if normal then low t - bits t else low t |}.

Lemma factor_has q r t v : 0 <= bits t -> 2 ^ (bits t + 1) - 1 <= most t -> kept_or_zero r = true -> has_val t v ->
  has_val (facts_normal t (normalise_factors q)) (factor q r v).
Proof.
  intros B0 O K H. unfold factor. pose proof (flush_has r _ v K H) as F. destruct (normalise_factors q); [|exact F].
  intros x E. destruct (flush r v) as [y| |]; try easy. injection E as <-. specialize (F y eq_refl).
  destruct F as [[P A] [B C]]. unfold normalised. destruct (is_subnormal y) eqn:S.
  - unfold is_subnormal in S. apply andb_prop in S. destruct S as [S1 S2]. apply negb_true_iff in S1. unfold is_zero in S1.
    apply Z.eqb_neq in S1. apply Z.ltb_lt in S2. destruct (Z.log2_spec (sig y)) as [L1 L2]; [lia|].
    pose proof (Z.log2_nonneg (sig y)) as L0. set (l := Z.log2 (sig y)) in *. unfold has; cbn [sig frac exp most bits low facts_normal].
    assert (0 < 2 ^ (frac y - l)) by (apply Z.pow_pos_nonneg; lia). split; [|split; lia]. split; [nia|].
    rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia. replace (frac y - l + (bits t - frac y)) with (bits t - l) by lia.
    assert (P2 : 0 < 2 ^ (bits t - l)) by (apply Z.pow_pos_nonneg; lia).
    assert (M : sig y + 1 <= 2 ^ (l + 1)) by (replace (Z.succ l) with (l + 1) in L2 by lia; lia).
    assert (E2 : 2 ^ (l + 1) * 2 ^ (bits t - l) = 2 ^ (bits t + 1)) by (rewrite <- Z.pow_add_r by lia; f_equal; lia). nia.
  - unfold has; cbn [sig frac exp most bits low facts_normal]. repeat split; auto. lia.
Qed.

Definition factor_facts (d : design) (f : format) : facts := facts_normal (operand_facts d f) (normalise_factors (factors d)).

Lemma operand_factor_has d r f w : operand_ok d f = true -> kept_or_zero r = true -> exponent_step (factors d) = 1 ->
  has_val (factor_facts d f) (factor (factors d) r (operand d f w)).
Proof.
  intros O K S. apply factor_has; auto using operand_has; cbn [bits most operand_facts]; [|lia].
  unfold operand_ok, format_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[O _] _]. now apply Z.leb_le.
Qed.

(** What the terms of a design are known to be; [None] where they are rounded, or zeros count as others. *)
Definition term_facts (d : design) : option facts :=
  let q := factors d in
  if operand_ok d (a_format d) && operand_ok d (b_format d) && kept_or_zero (of_a q) && kept_or_zero (of_b q) &&
     (exponent_step q =? 1) && match zero_terms q, product_rounding q with None, None => true | _, _ => false end
  then let t := facts_times (factor_facts d (a_format d)) (factor_facts d (b_format d)) in
       match scales d with
       | None => Some t
       | Some (f, _) => if format_ok f then Some (facts_times (facts_times t (format_facts f)) (format_facts f)) else None
       end
  else None.

Lemma negate_has t v : has_val t v -> has_val t (negate v).
Proof. intros H x E. destruct v as [y| |]; try easy. injection E as <-. exact (H y eq_refl). Qed.

(** Elements as [elements] makes them, and the one that stands for a missing k, which has no scales. *)
Definition made_by (d : design) (x : element) : Prop :=
  match scales d with
  | None => scaled_by x = []
  | Some (f, _) => exists a b, scaled_by x = [decode f a; decode f b]
  end.

Lemma elements_made d w : Forall (made_by d) (elements d w).
Proof.
  apply Forall_forall. intros x H. unfold elements in H. apply in_map_iff in H. destruct H as [[k [a b]] [<- _]].
  unfold made_by. destruct (scales d) as [[f n]|]; cbn; eauto.
Qed.

Lemma scaled_has d t x : term_facts d = Some t -> made_by d x ->
  has_val t (scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)).
Proof.
  unfold term_facts. intros T M. set (q := factors d) in *.
  destruct (_ && _) eqn:G in T; [|easy]. repeat rewrite andb_true_iff in G. destruct G as [[[[[Oa Ob] Ka] Kb] St] R].
  destruct (zero_terms q) eqn:Zt; [easy|]. destruct (product_rounding q) eqn:Pr; [easy|]. apply Z.eqb_eq in St.
  set (u := facts_times _ _) in T.
  assert (A : has_val (factor_facts d (a_format d)) (a_of d x)) by (now apply operand_factor_has).
  assert (B : has_val (factor_facts d (b_format d)) (b_of d x)) by (now apply operand_factor_has).
  pose proof (product_has _ _ _ _ A B) as P. fold u in P.
  unfold scaled_product. rewrite Zt, zero_as_none, Pr.
  assert (N : has_val u (if subtracted q (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x))).
  { destruct (subtracted _ _); auto using negate_has. }
  assert (S : has_val t (fold_left product (scaled_by x) (if subtracted q (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x)))).
  { unfold made_by in M. destruct (scales d) as [[f n]|].
    - destruct M as [a [b ->]]. cbn [fold_left]. destruct (format_ok f) eqn:Of; [|easy]. injection T as <-.
      apply product_has; auto using decode_has. apply product_has; auto using decode_has.
    - rewrite M. injection T as <-. exact N. }
  intros y E. destruct (fold_left product (scaled_by x) _) as [z| |]; try easy.
  destruct (match product_limit q with Some l => negb (is_zero z) && (l <=? own_exponent z) | None => false end); [easy|].
  injection E as <-. now apply S.
Qed.

Lemma swapped_incl {A} (l : list A) : forall x, In x (swapped l) -> In x l.
Proof.
  assert (G : forall n (l : list A), (length l <= n)%nat -> forall x, In x (swapped l) -> In x l).
  { induction n as [|n IH]; intros l' L x H; destruct l' as [|a [|b r]]; auto; cbn in L; try lia.
    cbn in H. destruct H as [<-|[<-|H]]; cbn; auto. right. right. apply IH; auto. lia. }
  eapply G; eauto.
Qed.

Lemma swapped_length {A} (l : list A) : length (swapped l) = length l.
Proof.
  assert (G : forall n (l : list A), (length l <= n)%nat -> length (swapped l) = length l).
  { induction n as [|n IH]; intros l' L; destruct l' as [|a [|b r]]; auto; cbn in *; try lia. rewrite IH; lia. }
  eapply G; eauto.
Qed.

Lemma block_products_has d t b : term_facts d = Some t -> Forall (made_by d) b -> Forall (has_val t) (block_products d b).
Proof.
  intros T F. unfold block_products. apply Forall_forall. intros v H. apply in_map_iff in H. destruct H as [x [<- Hx]].
  apply scaled_has; auto. rewrite Forall_forall in F. apply F. unfold ordered in Hx. destruct (odd_first d); auto.
  now apply swapped_incl.
Qed.

Lemma block_products_length d b : length (block_products d b) = length b.
Proof. unfold block_products, ordered. rewrite map_length. destruct (odd_first d); auto using swapped_length. Qed.

(** * Two designs that give the same on every block give the same *)

Lemma block_products_with d s b : block_products (with_sum d s) b = block_products d b.
Proof. reflexivity. Qed.

Lemma values_with d s s' xs v (C : val -> Prop) : sum_of d = Some s -> (0 < block d)%nat -> Forall (made_by d) xs ->
  (forall b v, (length b <= block d)%nat -> Forall (made_by d) b -> C v ->
     sum_values s (block_products d b ++ [taken_c d v]) = sum_values s' (block_products d b ++ [taken_c d v])) ->
  (forall vs, C (sum_values s vs)) -> C v -> values d xs v = values (with_sum d s') xs v.
Proof.
  intros S B F E K Cv. unfold values. change (block (with_sum d s')) with (block d).
  pose proof (cut_list_blocks (made_by d) (block d) B (length xs) xs F) as G.
  assert (S' : sum_of (with_sum d s') = Some s').
  { unfold sum_of in *. cbn. destruct (sums d) as [[?|]| | | | | | | |]; try easy. destruct (cutting_of d); try easy. now destruct (skips d). }
  revert v Cv. induction G as [|b r [Lb Hb] G IH]; intros v Cv; [reflexivity|]. cbn [fold_left].
  rewrite (block_value_one d s _ _ S), (block_value_one (with_sum d s') s' _ _ S'). rewrite block_products_with.
  change (taken_c (with_sum d s') v) with (taken_c d v). rewrite <- E by auto. apply IH. apply K.
Qed.

Lemma at_k_made d xs k : scales d = None \/ (k < length xs)%nat -> Forall (made_by d) xs -> made_by d (at_k xs k).
Proof.
  intros H F. unfold at_k. destruct (le_lt_dec (length xs) k) as [L|L].
  - rewrite nth_overflow by lia. unfold made_by. destruct H as [->|H]; [reflexivity|lia].
  - rewrite Forall_forall in F. apply F. now apply nth_In.
Qed.

(** Compositions of calls whose factors have no scales. *)
Definition parts_ok (d : design) : bool := match composed d, scales d with Some _, Some _ => false | _, _ => true end.

(** Two sums that give the same of every block give the same value. *)
Theorem value_with d s s' w (C : val -> Prop) : sum_of d = Some s -> (0 < block d)%nat -> parts_ok d = true ->
  (forall b v, (length b <= block d)%nat -> Forall (made_by d) b -> C v ->
     sum_values s (block_products d b ++ [taken_c d v]) = sum_values s' (block_products d b ++ [taken_c d v])) ->
  (forall vs, C (sum_values s vs)) ->
  C (decode (match composed d with None => c_format d | Some _ => d_format d end) (match composed d with None => c_word w | Some _ => 0 end)) ->
  value d w = value (with_sum d s') w.
Proof.
  intros S B P E K Cv. unfold value. change (composed (with_sum d s')) with (composed d).
  change (elements (with_sum d s') w) with (elements d w). pose proof (elements_made d w) as F.
  destruct (composed d) as [how|] eqn:Co.
  - do 3 f_equal. unfold parts_value. change (d_format (with_sum d s')) with (d_format d).
    revert Cv. generalize (decode (d_format d) 0) as v. unfold parts_ok in P. rewrite Co in P.
    induction (parts how) as [|k r IH]; intros v Cv; [reflexivity|]. cbn [fold_left].
    assert (M : Forall (made_by d) (map (at_k (elements d w)) k)).
    { apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- _]]. apply at_k_made; auto.
      left. destruct (scales d); easy. }
    rewrite (values_with d s s' _ v C) by auto. apply IH.
    rewrite <- (values_with d s s' _ v C) by auto. unfold values.
    generalize (cut_list (length (map (at_k (elements d w)) k)) (block d) (map (at_k (elements d w)) k)) as bs. intros bs.
    revert v Cv. induction bs as [|b t IHb]; intros v Cv; auto. cbn [fold_left]. apply IHb. rewrite (block_value_one d s) by auto. apply K.
  - change (c_format (with_sum d s')) with (c_format d). now apply values_with with s C.
Qed.
