(** Parameters that cannot matter, one theorem an axis, from words to words: carry bits and the exponent of zeros.  Side
    conditions are booleans of a design, which [eq_refl] decides. *)
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
  destruct (converted d); [easy|]. now destruct (zero_terms (factors d)).
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
  intros [A [B C]]. split; [lia|]. cbn [fst snd]. rewrite B. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia.
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
