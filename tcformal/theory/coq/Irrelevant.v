(** Parameters that cannot matter, one theorem an axis, from words to words: carry bits, the exponent of zeros, the order of
    products.  Side conditions are booleans of a design, which [eq_refl] decides. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values.
Import ListNotations.
Open Scope Z_scope.

(** * c of a block *)

(** The format of the first block's c: that of results where a composition starts from +0. *)
Definition start_format (d : design) : format := match composed d with None => c_format d | Some _ => d_format d end.

Lemma taken_kept d v : zero_terms (factors d) = None -> taken_c d v = flush (c_rule d) v.
Proof. unfold taken_c. intros ->. apply zero_as_none. Qed.

Lemma term_facts_zero d t : term_facts d = Some t -> zero_terms (factors d) = None.
Proof.
  unfold term_facts. destruct (_ && _) eqn:G; [|easy]. intros _. repeat rewrite andb_true_iff in G. destruct G as [_ R].
  now destruct (zero_terms (factors d)).
Qed.

Lemma flush_good s f r v : kept_or_zero r = true -> good_c s f v -> good_c s f (flush r v).
Proof.
  intros K H x E. destruct v as [y| |]; try easy. unfold flush in E. destruct (negb (is_subnormal y)); [now apply H|].
  destruct (H y eq_refl) as [[A B] C].
  assert (Z : fits' (number_shape (Z.max (fbits f) (p (out s)))) {| neg := false; sig := 0; exp := exp y; frac := frac y |}).
  { split; cbn [sig frac]; [lia|]. rewrite Rmult_0_l. eapply Rle_trans; [|exact B].
    apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. }
  destruct r; try easy; injection E as <-; cbn; (split; [|lia]); auto. split; auto.
Qed.

Lemma start_good d s w : format_ok (start_format d) = true -> 0 <= p (out s) ->
  good_c s (start_format d) (decode (match composed d with None => c_format d | Some _ => d_format d end)
                                    (match composed d with None => c_word w | Some _ => 0 end)).
Proof. intros O P. unfold start_format in *. destruct (composed d); now apply decode_good. Qed.

(** What all claims about designs of one fused sum ask. *)
Definition sound (d : design) (s : sum) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && format_ok (start_format d) && kept_or_zero (c_rule d) &&
  (0 <=? p (out s)) && (emin (out s) <=? emax (out s)).

Lemma numbers_app ps c ts : numbers (ps ++ [c]) = Some ts ->
  exists us x, ts = us ++ [x] /\ c = Num x /\ ps = map Num us.
Proof.
  intros H. unfold numbers in H. destruct (forallb is_num (ps ++ [c])) eqn:B; [|easy]. injection H as <-.
  rewrite forallb_app in B. apply andb_prop in B. destruct B as [B1 B2]. simpl in B2. rewrite andb_true_r in B2.
  destruct c as [x| |]; try easy. exists (map num_of ps), x. rewrite map_app. repeat split; auto.
  rewrite map_map. rewrite forallb_forall in B1. clear B2. induction ps as [|v r IH]; [reflexivity|]. cbn. f_equal.
  - specialize (B1 v (or_introl eq_refl)). now destruct v.
  - apply IH. intros y Hy. apply B1. now right.
Qed.

Lemma has_numbers t us : Forall (has_val t) (map Num us) -> Forall (has t) us.
Proof. intros F. apply Forall_forall. intros x Hx. rewrite Forall_forall in F. apply (F (Num x)); auto. now apply in_map. Qed.

Lemma has_fits t x : has t x -> fits' (most t, bits t) x.
Proof.
  intros [[P A] [B C]]. split; [lia|]. cbn [fst snd]. apply IZR_le in A. rewrite mult_IZR, <- bp_Z in A by lia.
  replace (- frac x) with ((bits t - frac x) + - bits t) by lia. rewrite bpow_plus, <- Rmult_assoc.
  apply Rmult_le_compat_r; [apply bpow_ge_0|exact A].
Qed.

(** * Carry bits *)

(** [k] bits above the products' two and the terms' own are enough for a block: n products' largest counts and c's. *)
Definition carry_enough (d : design) (k : Z) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t => sound d s && plain_sum s && (0 <=? k) && (0 <=? most t) &&
      match fraction_bits s with
      | Some f => Z.of_nat (block d) * Carry.top f (most t, bits t) +
                  Carry.top f (number_shape (Z.max (fbits (start_format d)) (p (out s)))) <? 2 ^ (f + 1 + k)
      | None => false
      end
  | _, _ => false
  end.

(** With that many carry bits a register never wraps: the unit gives what one without a bound gives, on all words. *)
Theorem carry_bits_suffice d s k w : sum_of d = Some s -> carry_enough d k = true -> pairs w <> [] ->
  compute (with_sum d (with_carry s (Some k))) w = compute (with_sum d (with_carry s None)) w.
Proof.
  intros S O N. unfold carry_enough in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy].
  destruct (fraction_bits s) as [f|] eqn:F; [|now rewrite andb_false_r in O].
  repeat rewrite andb_true_iff in O. destruct O as [[[[Sd PS] K] M0] O]. unfold sound in Sd. repeat rewrite andb_true_iff in Sd.
  destruct Sd as [[[[[[ON PO] B] Oc] Kc] P] EM]. unfold plain_sum in PS. rewrite F in PS. repeat rewrite andb_true_iff in PS.
  destruct PS as [[[[A Nn] _] _] F0]. destruct (alignment s) eqn:Al; try easy. apply negb_true_iff in Nn.
  set (d1 := with_sum d (with_carry s (Some k))). set (d2 := with_sum d (with_carry s None)).
  assert (S1 : sum_of d1 = Some (with_carry s (Some k))).
  { unfold sum_of in *. cbn. destruct (sums d) as [[?|]| | | | | | | |]; try easy. destruct (cutting_of d); try easy. now destruct (skips d). }
  rewrite (compute_word d1), (compute_word d2) by (try exact ON; auto). f_equal.
  change d2 with (with_sum d1 (with_carry s None)).
  apply value_with with (s := with_carry s (Some k)) (C := good_c s (start_format d)); auto.
  - change (block d1) with (block d). lia.
  - intros b v Lb Hb G. change (block_products d1 b) with (block_products d b). change (taken_c d1 v) with (taken_c d v).
    pose proof (block_products_has d t b T Hb) as Hp. pose proof (block_products_length d b) as Lp.
    assert (Gc : good_c s (start_format d) (taken_c d v)) by (rewrite taken_kept by (eapply term_facts_zero; eauto); now apply flush_good).
    unfold sum_values. destruct (numbers (block_products d b ++ [taken_c d v])) as [ts|] eqn:Nu; auto.
    destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ec Eu]]]]. rewrite Eu in Hp, Lp. rewrite map_length in Lp. apply has_numbers in Hp.
    rewrite Ec in Gc. destruct (Gc x eq_refl) as [Fx _].
    assert (X : exact_total (with_carry s (Some k)) (us ++ [x])).
    { apply carry_suffices' with f k (repeat (most t, bits t) (length us) ++ [number_shape (Z.max (fbits (start_format d)) (p (out s)))]); auto; try lia.
      - unfold carry_ok. apply Z.ltb_lt. apply Z.ltb_lt in O. rewrite map_app, zsum_app, map_repeat', zsum_repeat.
        assert (E : forall x, zsum (map (Carry.top f) [x]) = Carry.top f x) by (intros; cbn; lia). rewrite E.
        pose proof (top_nonneg f (most t, bits t) ltac:(cbn; lia)).
        assert (Z.of_nat (length us) * Carry.top f (most t, bits t) <= Z.of_nat (block d) * Carry.top f (most t, bits t)).
        { apply Z.mul_le_mono_nonneg_r; auto. change (block d1) with (block d) in Lb. lia. }
        lia.
      - apply Forall2_app; [|constructor; auto].
        clear -Hp. induction Hp; cbn; constructor; auto using has_fits. }
    unfold sum_numbers. rewrite X. reflexivity.
  - intros vs. apply (sum_good (with_carry s (Some k)) (start_format d)); cbn; lia.
  - apply (start_good d s w); auto. lia.
Qed.

(** * The exponent of zeros *)

(** The exponent of zeros is at most that of every other term; c of a later block has at least the result's least one. *)
Definition zero_idle (d : design) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t => sound d s && negb (normalise s) && carry_sane s &&
      zero_below s (Z.min (low t) (Z.min (least (start_format d)) (emin (out s))))
  | _, _ => false
  end.

(** Where zeros have exponents below all others, it does not matter which: the unit gives what one whose zeros take no part
    in the largest exponent gives, on all words. *)
Theorem zero_exponent_idle d s w : sum_of d = Some s -> zero_idle d = true -> pairs w <> [] ->
  compute d w = compute (with_sum d (with_zero s ZeroNone)) w.
Proof.
  intros S O N. unfold zero_idle in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[Sd Nn] CS] ZB]. unfold sound in Sd. repeat rewrite andb_true_iff in Sd.
  destruct Sd as [[[[[[ON PO] B] Oc] Kc] P] EM]. apply negb_true_iff in Nn.
  rewrite (compute_word d), (compute_word (with_sum d (with_zero s ZeroNone))) by (try exact ON; auto). f_equal.
  apply value_with with (s := s) (C := good_c s (start_format d)); auto.
  - lia.
  - intros b v Lb Hb G.
    pose proof (block_products_has d t b T Hb) as Hp.
    assert (Gc : good_c s (start_format d) (taken_c d v)) by (rewrite taken_kept by (eapply term_facts_zero; eauto); now apply flush_good).
    unfold sum_values. destruct (numbers (block_products d b ++ [taken_c d v])) as [ts|] eqn:Nu; auto.
    destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ec Eu]]]]. rewrite Eu in Hp. apply has_numbers in Hp.
    rewrite Ec in Gc. destruct (Gc x eq_refl) as [_ Lx].
    apply zero_exponent_irrelevant with (Z.min (low t) (Z.min (least (start_format d)) (emin (out s)))); auto.
    apply Forall_app. split.
    + eapply Forall_impl; [|exact Hp]. intros y [_ [_ H]] _. lia.
    + constructor; auto. intros _. lia.
  - intros vs. apply sum_good; lia.
  - apply start_good; auto. lia.
Qed.

(** * The order of the products of a block *)

Lemma numbers_perm vs ws : Permutation vs ws ->
  match numbers vs, numbers ws with Some ts, Some us => Permutation ts us | None, None => True | _, _ => False end.
Proof.
  intros H. unfold numbers. rewrite (forallb_perm _ _ _ H). destruct (forallb is_num ws); auto. now apply Permutation_map.
Qed.

Lemma special_perm vs ws : Permutation vs ws -> special_sum vs = special_sum ws.
Proof. intros P. unfold special_sum. now rewrite !(existsb_perm _ _ _ P). Qed.

Lemma on_numbers_perm (g h : list num -> val) vs ws : Permutation vs ws ->
  (forall ts us, Permutation ts us -> g ts = h us) -> on_numbers g vs = on_numbers h ws.
Proof.
  intros P H. unfold on_numbers. pose proof (numbers_perm _ _ P) as Q.
  destruct (numbers vs), (numbers ws); try easy; auto. now apply special_perm.
Qed.

Lemma largest_perm d ts us : Permutation ts us -> largest d ts = largest d us.
Proof. intros P. unfold largest. apply fold_omax_perm. now apply Permutation_map. Qed.

Lemma add_perm s vs ws : Permutation vs ws -> add s vs = add s ws.
Proof.
  intros P. destruct s as [d|d x]; cbn [add]; [now apply product_order|]. apply on_numbers_perm; auto. intros ts us Q.
  rewrite (unit_of_perm d _ _ Q). unfold sum_at. cbv zeta.
  rewrite (zsum_perm _ _ (Permutation_map (cut (alignment d) (unit_of d us)) Q)). f_equal.
  apply sign_of_perm; auto. now apply Permutation_map.
Qed.

Lemma sticky_perm d ts us : Permutation ts us -> sticky_sum d ts = sticky_sum d us.
Proof.
  intros Q. unfold sticky_sum. rewrite (unit_of_perm d _ _ Q), (largest_perm d _ _ Q).
  rewrite (zsum_perm _ _ (Permutation_map (cut (alignment d) (unit_of d us)) Q)).
  rewrite (sign_of_perm (rho (out d)) _ _ _ _ _ Q (Permutation_map (cut (alignment d) (unit_of d us)) Q)).
  now rewrite (existsb_perm _ _ _ Q).
Qed.

Lemma forallb_snoc {A} (q : A -> bool) l l' x : Permutation l l' -> forallb q (l ++ [x]) = forallb q (l' ++ [x]).
Proof. intros P. apply forallb_perm. now apply Permutation_app_tail. Qed.

Lemma framed_perm d ts us c : group_size d = None -> Permutation ts us -> framed_sum d ts c = framed_sum d us c.
Proof.
  intros G Q. unfold framed_sum, frame_counts. rewrite G.
  assert (E : omax_list (grid_of d (c_bits d) true c :: map (grid_of d (frame_bits d) (negb false)) ts) =
              omax_list (grid_of d (c_bits d) true c :: map (grid_of d (frame_bits d) (negb false)) us)).
  { unfold omax_list. apply fold_omax_perm. constructor. now apply Permutation_map. }
  rewrite E. clear E. set (g := match omax_list _ with Some g => g | None => 0 end).
  rewrite (forallb_snoc is_zero ts us c Q).
  set (k := fun x => cut (frame_mode d) g x + _). set (gone := drops_c d && _ && _).
  set (l := if gone then 0 else cut (frame_mode d) g c).
  assert (PC : Permutation (map k ts ++ [l]) (map k us ++ [l])) by (apply Permutation_app_tail; now apply Permutation_map).
  assert (PT : Permutation (ts ++ [c]) (us ++ [c])) by now apply Permutation_app_tail.
  assert (PN : Permutation (if forallb is_zero (us ++ [c]) then [0] else map k ts ++ [l]) (if forallb is_zero (us ++ [c]) then [0] else map k us ++ [l])).
  { destruct (forallb is_zero (us ++ [c])); auto. }
  rewrite (zsum_perm _ _ PN). destruct (first_rounding d) as [r|].
  - now rewrite (sign_of_perm (rho r) _ _ _ _ _ PT PN).
  - now rewrite (sign_of_perm (rho (frame_out d)) _ _ _ _ _ PT PN).
Qed.

Lemma truncated_perm d ts us : Permutation ts us -> truncated d ts = truncated d us.
Proof.
  intros Q. unfold truncated. rewrite (total_perm _ _ _ Q), (unit_of_perm _ _ _ Q), (largest_perm _ _ _ Q).
  now rewrite (sign_of_perm _ _ _ _ _ _ Q (counts_perm (products_sum d) _ _ Q)).
Qed.

(** Sums of all products of a block at once. *)
Definition at_once (how : summation) : bool :=
  match how with
  | OneSum _ | StickySum _ | CAfter _ false | CLast Together _ _ => true
  | Framed d => match group_size d with None => true | _ => false end
  | RoundedDown d => negb (two_sums d)
  | _ => false
  end.

Lemma block_sum_perm how r fs fs' ps qs c : at_once how = true -> Permutation ps qs ->
  block_sum how r None fs ps c = block_sum how r None fs' qs c.
Proof.
  intros O P. assert (PC : Permutation (ps ++ [c]) (qs ++ [c])) by now apply Permutation_app_tail.
  pose proof (Permutation_map num_of P) as PN.
  destruct how as [s|s|s|s|s|s [|]|s l|[| | | |] s l|t]; cbn [at_once] in O; try easy; cbn [block_sum add_from inner_sum].
  - now apply add_perm.
  - apply on_numbers_perm; auto using sticky_perm.
  - apply on_numbers_perm; auto. intros _ _ _. destruct (group_size s) eqn:G; [easy|]. now apply framed_perm.
  - apply on_numbers_perm; auto. intros _ _ _. unfold round_down_sum. apply negb_true_iff in O. rewrite O. cbn [andb].
    now rewrite (truncated_perm s _ _ PN).
  - apply on_numbers_perm; auto. intros _ _ _. cbv zeta. unfold held.
    rewrite (unit_of_perm s _ _ PN), (zsum_perm _ _ (counts_perm s _ _ PN)). f_equal.
    apply sign_of_perm; auto using counts_perm.
  - now rewrite (add_perm s _ _ P).
Qed.

(** What an element's term depends on where products of odd k are not negated. *)
Definition factors_of (x : element) : Z * Z * list val := (a_word x, b_word x, scaled_by x).

Definition order_free (d : design) : bool :=
  at_once (sums d) && match cutting_of d with Whole => true | _ => false end && negb (odd_negated (factors d)) && one_nan d &&
  match composed d with None => true | _ => false end.

Lemma terms_perm d b b' : cutting_of d = Whole -> odd_negated (factors d) = false ->
  Permutation (map factors_of b) (map factors_of b') ->
  Permutation (fst (terms d (ordered d b))) (fst (terms d (ordered d b'))).
Proof.
  intros W Od P. unfold terms. rewrite W. cbn [fst].
  set (g := fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)).
  set (h := fun k : Z * Z * list val => scaled_product (factors d)
     (factor (factors d) (of_a (factors d)) (operand d (a_format d) (fst (fst k))))
     (factor (factors d) (of_b (factors d)) (operand d (b_format d) (snd (fst k)))) 0 (snd k)).
  assert (E : forall x, g x = h (factors_of x)).
  { intros x. unfold g, h, scaled_product, a_of, b_of. rewrite Od. reflexivity. }
  assert (G : forall l, Permutation (map g (ordered d l)) (map h (map factors_of l))).
  { intros l. rewrite map_map. rewrite (map_ext _ _ E). apply Permutation_map. unfold ordered.
    destruct (odd_first d); auto. clear.
    assert (Q : forall n (l : list element), (length l <= n)%nat -> Permutation (swapped l) l).
    { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; auto; cbn in *; try lia.
      eapply perm_trans; [apply perm_swap|]. do 2 constructor. apply IH. lia. }
    eapply Q; eauto. }
  eapply perm_trans; [apply G|]. eapply perm_trans; [|apply Permutation_sym, G]. now apply Permutation_map.
Qed.

(** The same products, with their scales, in another order within every block: the same word. *)
Theorem product_order_idle d w w' : order_free d = true -> pairs w <> [] -> c_word w = c_word w' ->
  Forall2 (fun b b' => Permutation (map factors_of b) (map factors_of b'))
    (cut_list (length (elements d w)) (block d) (elements d w)) (cut_list (length (elements d w')) (block d) (elements d w')) ->
  pairs w' <> [] -> compute d w = compute d w'.
Proof.
  intros O N Ec P N'. unfold order_free in O. repeat rewrite andb_true_iff in O. destruct O as [[[[A W] Od] ON] Co].
  destruct (cutting_of d) eqn:Cu; try easy. destruct (composed d) eqn:Cd; [easy|]. apply negb_true_iff in Od.
  rewrite !compute_word by auto. f_equal. unfold value. rewrite Cd, Ec. unfold values.
  generalize (decode (c_format d) (c_word w')) as v.
  induction P as [|b b' r r' Hb P IH]; intros v; [reflexivity|]. cbn [fold_left]. rewrite IH. f_equal.
  unfold block_value, skipped.
  assert (K : forall q : Z * Z * list val -> bool, forallb (fun x => q (factors_of x)) b = forallb (fun x => q (factors_of x)) b').
  { intros q. pose proof (forallb_perm q _ _ Hb) as Q. clear -Q.
    assert (M : forall l, forallb q (map factors_of l) = forallb (fun x => q (factors_of x)) l).
    { induction l; cbn; congruence. }
    now rewrite !M in Q. }
  pose proof (K (fun k => fst (fst k) =? 0)) as Ka. pose proof (K (fun k => snd (fst k) =? 0)) as Kb.
  unfold factors_of in Ka, Kb. cbn [fst snd] in Ka, Kb. rewrite Ka, Kb.
  destruct (skips d && _); auto.
  assert (T : forall l, snd (terms d l) = None) by (intros l; unfold terms; now rewrite Cu).
  rewrite !T. apply block_sum_perm; auto. now apply terms_perm.
Qed.
