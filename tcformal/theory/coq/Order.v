(** What one sum does not depend on: the order of its terms, the exponent of zeros below those of all other terms, products
    of zero. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding.
Import ListNotations.
Open Scope Z_scope.

(** ** The order of the terms of one sum is irrelevant *)

Lemma omax_comm a b : omax a b = omax b a.
Proof. destruct a, b; simpl; auto. f_equal. lia. Qed.

Lemma omax_assoc a b c : omax a (omax b c) = omax (omax a b) c.
Proof. destruct a, b, c; simpl; auto. f_equal. lia. Qed.

Lemma fold_omax_perm l l' : Permutation l l' -> fold_right omax None l = fold_right omax None l'.
Proof.
  induction 1; simpl; auto; try congruence.
  rewrite !omax_assoc. now rewrite (omax_comm y x).
Qed.

Lemma zsum_perm l l' : Permutation l l' -> zsum l = zsum l'.
Proof. unfold zsum. induction 1; simpl; lia || congruence. Qed.

Lemma forallb_perm {A} (q : A -> bool) l l' : Permutation l l' -> forallb q l = forallb q l'.
Proof. induction 1; simpl; try congruence. now destruct (q x), (q y). Qed.

Lemma existsb_perm {A} (q : A -> bool) l l' : Permutation l l' -> existsb q l = existsb q l'.
Proof. induction 1; simpl; try congruence. now destruct (q x), (q y). Qed.

Lemma fold_min_le r : forall a, fold_right Z.min a r <= a.
Proof. induction r; simpl; intros; auto with zarith. specialize (IHr a0). lia. Qed.

Lemma fold_min_in r : forall a y, In y r -> fold_right Z.min a r <= y.
Proof. induction r; simpl; intros a0 y; [easy|]. intros [->|H]. lia. specialize (IHr a0 y H). lia. Qed.

Lemma fold_min_attained r : forall a, fold_right Z.min a r = a \/ In (fold_right Z.min a r) r.
Proof.
  induction r; simpl; intros; auto. destruct (IHr a0) as [H|H].
  - rewrite H. destruct (Z.min_spec a a0) as [[_ ->]|[_ ->]]; auto.
  - destruct (Z.min_spec a (fold_right Z.min a0 r)) as [[_ ->]|[_ ->]]; auto.
Qed.

Lemma least_lsb_le ts x : In x ts -> least_lsb ts <= lsb x.
Proof.
  destruct ts as [|y r]; [easy|]. simpl. intros [->|H]. apply fold_min_le.
  apply fold_min_in. now apply in_map.
Qed.

Lemma least_lsb_attained ts : ts <> [] -> exists x, In x ts /\ least_lsb ts = lsb x.
Proof.
  destruct ts as [|y r]; [easy|]. intros _. simpl. destruct (fold_min_attained (map lsb r) (lsb y)) as [H|H].
  - exists y. auto.
  - rewrite in_map_iff in H. destruct H as [x [Hx Hi]]. exists x. auto.
Qed.

Lemma least_lsb_perm ts ts' : Permutation ts ts' -> least_lsb ts = least_lsb ts'.
Proof.
  intros P. destruct ts as [|y r].
  - apply Permutation_nil in P. now subst.
  - assert (N : ts' <> []) by (intros ->; now apply Permutation_sym, Permutation_nil in P).
    destruct (least_lsb_attained (y :: r)) as [x [Hx Ex]]; [easy|].
    destruct (least_lsb_attained ts' N) as [x' [Hx' Ex']].
    assert (least_lsb (y :: r) <= lsb x') by (apply least_lsb_le; eapply Permutation_in; [apply Permutation_sym|]; eauto).
    assert (least_lsb ts' <= lsb x) by (apply least_lsb_le; eapply Permutation_in; eauto).
    lia.
Qed.

Lemma unit_of_perm d ts ts' : Permutation ts ts' -> unit_of d ts = unit_of d ts'.
Proof.
  intros P. unfold unit_of, largest. rewrite (least_lsb_perm _ _ P).
  now rewrite (fold_omax_perm _ _ (Permutation_map (term_exponent d) P)).
Qed.

Lemma counts_perm d ts ts' : Permutation ts ts' -> Permutation (counts d ts) (counts d ts').
Proof. intros P. unfold counts. rewrite (unit_of_perm d _ _ P). now apply Permutation_map. Qed.

Lemma total_perm d ts ts' : Permutation ts ts' -> total d ts = total d ts'.
Proof. intros P. unfold total. now rewrite (zsum_perm _ _ (counts_perm d _ _ P)). Qed.

Lemma sign_of_perm m n ts ts' ns ns' :
  Permutation ts ts' -> Permutation ns ns' -> sign_of m n ts ns = sign_of m n ts' ns'.
Proof.
  intros P Q. unfold sign_of. now rewrite (forallb_perm _ _ _ Q), !(forallb_perm _ _ _ P), (existsb_perm _ _ _ P).
Qed.

(** One sum of the same numbers in another order gives the same. *)
Theorem sum_numbers_perm d ts ts' : Permutation ts ts' -> sum_numbers d ts = sum_numbers d ts'.
Proof.
  intros P. unfold sum_numbers. rewrite (total_perm d _ _ P), (unit_of_perm d _ _ P).
  f_equal. apply sign_of_perm; auto using counts_perm.
Qed.

(** One sum of the same values in another order gives the same, infinities and NaNs among them. *)
Theorem product_order d vs vs' : Permutation vs vs' -> sum_values d vs = sum_values d vs'.
Proof.
  intros P. unfold sum_values, numbers. rewrite (forallb_perm _ _ _ P).
  destruct (forallb is_num vs').
  - apply sum_numbers_perm. now apply Permutation_map.
  - unfold special_sum. now rewrite !(existsb_perm _ _ _ P).
Qed.

(** ** Totals and conversions depend on little *)

Lemma convert_zero c s u u' : convert c s 0 u = convert c s 0 u'.
Proof.
  unfold convert, last_bit. simpl. replace (round_div (rho c) 0 (emin c - p c - u)) with 0.
  replace (round_div (rho c) 0 (emin c - p c - u')) with 0. reflexivity.
  all: rewrite round_div_unfold; destruct (_ <=? 0); simpl; auto; now rewrite ?Zdiv_0_l, ?Zmod_0_l.
Qed.

Lemma round_div_0 m k : round_div m 0 k = 0.
Proof. rewrite round_div_unfold. destruct (_ <=? 0); simpl; auto. Qed.

Lemma signed_0 x : sig x = 0 -> signed x = 0.
Proof. unfold signed. intros ->. now destruct (neg x). Qed.

Lemma cut_zero m u x : is_zero x = true -> cut m u x = 0.
Proof. unfold is_zero, cut. intros H. apply Z.eqb_eq in H. rewrite signed_0 by easy. apply round_div_0. Qed.

Lemma wrap_0 w : 0 < w -> wrap w 0 = 0.
Proof.
  intros H. unfold wrap. rewrite Z.mod_small; [lia|]. simpl. split. apply Z.pow_nonneg; lia.
  apply Z.pow_lt_mono_r; lia.
Qed.

(** Two designs that count the same terms in the same units give the same. *)
Lemma sum_numbers_ext d d' ts :
  alignment d = alignment d' -> fraction_bits d = fraction_bits d' -> carry_bits d = carry_bits d' -> out d = out d' ->
  unit_of d ts = unit_of d' ts -> sum_numbers d ts = sum_numbers d' ts.
Proof.
  intros Ha Hf Hc Ho Hu. unfold sum_numbers, total, counts. now rewrite Ha, Hf, Hc, Ho, Hu.
Qed.

(** ** The exponent of zero terms is irrelevant below those of all others *)

Definition with_zero (d : sum) (z : zero_rule) : sum :=
  {| fraction_bits := fraction_bits d; alignment := alignment d; zero_exponent := z; carry_bits := carry_bits d;
     normalise := normalise d; out := out d |}.

Definition ole (a b : option Z) : Prop := match a, b with None, _ => True | Some x, Some y => x <= y | _, None => False end.

Lemma omax_le a b c : ole a c -> ole b c -> ole (omax a b) c.
Proof. destruct a, b, c; simpl; lia || auto. Qed.

Lemma omax_absorb a b : ole a b -> omax a b = b.
Proof. destruct a, b; simpl; auto; try easy. intros; f_equal; lia. Qed.

Lemma ole_trans a b c : ole a b -> ole b c -> ole a c.
Proof. destruct a, b, c; simpl; lia || easy. Qed.

Lemma ole_max_r a b : ole b (omax a b).
Proof. destruct a, b; simpl; lia || auto. Qed.

Lemma ole_max_l a b : ole a (omax a b).
Proof. destruct a, b; simpl; lia || auto. Qed.

(** Every zero term has an exponent of at most that of some other term; or all terms are zeros. *)
Definition low_zeros (d : sum) (ts : list num) : Prop :=
  forall x, In x ts -> is_zero x = true -> ole (term_exponent d x) (largest (with_zero d ZeroNone) ts).

Lemma term_exponent_nonzero d z x : is_zero x = false -> term_exponent (with_zero d z) x = term_exponent d x.
Proof. unfold term_exponent. now intros ->. Qed.

Lemma term_exponent_none d x : is_zero x = true -> term_exponent (with_zero d ZeroNone) x = None.
Proof. unfold term_exponent. now intros ->. Qed.

Lemma largest_in d ts x : In x ts -> ole (term_exponent d x) (largest d ts).
Proof.
  unfold largest. induction ts; simpl; [easy|]. intros [->|H]. apply ole_max_l.
  eapply ole_trans; [apply IHts; auto|]. apply ole_max_r.
Qed.

Lemma largest_le d ts b : (forall x, In x ts -> ole (term_exponent d x) b) -> ole (largest d ts) b.
Proof.
  unfold largest. induction ts; simpl; intros H. easy. apply omax_le; auto.
Qed.

Lemma ole_antisym a b : ole a b -> ole b a -> a = b.
Proof. destruct a, b; simpl; try easy. intros; f_equal; lia. Qed.

Lemma largest_low_zeros d ts : low_zeros d ts -> largest d ts = largest (with_zero d ZeroNone) ts.
Proof.
  intros H. apply ole_antisym; apply largest_le; intros x Hx; destruct (is_zero x) eqn:Z.
  - now apply H.
  - rewrite <- (term_exponent_nonzero d ZeroNone) by easy. now apply largest_in.
  - now rewrite term_exponent_none.
  - rewrite term_exponent_nonzero by easy. now apply largest_in.
Qed.

(** Zeros whose exponents are not above that of some other term take no part in the largest exponent. *)
Theorem zero_exponent_none d ts : low_zeros d ts -> sum_numbers d ts = sum_numbers (with_zero d ZeroNone) ts.
Proof.
  intros H. apply sum_numbers_ext; auto. unfold unit_of. simpl. destruct (fraction_bits d); auto.
  now rewrite largest_low_zeros.
Qed.

(** All zeros: the result does not depend on the unit. *)
Theorem all_zeros d z ts :
  (match carry_bits d, fraction_bits d with Some k, Some f => 0 <= k /\ 0 <= f | _, _ => True end) ->
  forallb is_zero ts = true -> sum_numbers d ts = sum_numbers (with_zero d z) ts.
Proof.
  intros Hk H.
  assert (C : forall d', map (cut (alignment d) (unit_of d' ts)) ts = map (fun _ => 0) ts).
  { intros d'. apply map_ext_in. intros x Hx. apply cut_zero. rewrite forallb_forall in H. auto. }
  assert (S : zsum (map (fun _ => 0) ts) = 0) by (clear; induction ts; simpl; auto).
  assert (T : forall d', alignment d' = alignment d -> fraction_bits d' = fraction_bits d ->
              carry_bits d' = carry_bits d -> total d' ts = 0 /\ counts d' ts = map (fun _ => 0) ts).
  { intros d' Ea Ef Ec. unfold total, counts. rewrite Ea, Ef, Ec, C. split; auto. rewrite S.
    destruct (carry_bits d), (fraction_bits d); auto. apply wrap_0. lia. }
  unfold sum_numbers. destruct (T d) as [-> ->]; auto. destruct (T (with_zero d z)) as [-> ->]; auto.
  apply convert_zero.
Qed.

(** So designs whose zero exponents lie below every exponent that a term other than zero can have are one design. *)
Definition zero_below (d : sum) (low : Z) : bool :=
  match zero_exponent d with ZeroNone => true | ZeroOwn => false | ZeroAt e => e <=? low end.

Definition carry_sane (d : sum) : bool :=
  match carry_bits d, fraction_bits d with Some k, Some f => (0 <=? k) && (0 <=? f) | _, _ => true end.

Definition above (low : Z) (x : num) : Prop := is_zero x = false -> low <= exp x.

(** An exponent of zeros below those of all other terms is as good as none. *)
Theorem zero_exponent_irrelevant d low ts :
  zero_below d low = true -> carry_sane d = true -> normalise d = false -> Forall (above low) ts ->
  sum_numbers d ts = sum_numbers (with_zero d ZeroNone) ts.
Proof.
  intros Hz Hc Hn Hl. destruct (forallb is_zero ts) eqn:A.
  - apply all_zeros; auto. unfold carry_sane in Hc. destruct (carry_bits d), (fraction_bits d); auto.
    apply andb_prop in Hc. lia.
  - apply zero_exponent_none. intros x Hx Zx. unfold term_exponent. rewrite Zx.
    unfold zero_below in Hz. destruct (zero_exponent d) eqn:E; try easy. simpl. apply Z.leb_le in Hz.
    assert (exists y, In y ts /\ is_zero y = false) as [y [Hy Ny]].
    { clear -A. induction ts; simpl in *; [easy|]. destruct (is_zero a) eqn:Q; simpl in *.
      - destruct IHts as [y [? ?]]; auto. exists y; auto.
      - exists a; auto. }
    pose proof (largest_in (with_zero d ZeroNone) ts y Hy) as L.
    rewrite term_exponent_nonzero in L by easy. unfold term_exponent in L. rewrite Ny, Hn in L.
    rewrite Forall_forall in Hl. specialize (Hl y Hy Ny).
    destruct (largest _ _); simpl in *; [lia|easy].
Qed.

(** ** Products of zero that are added change nothing *)

Lemma zsum_app a b : zsum (a ++ b) = zsum a + zsum b.
Proof. unfold zsum. induction a; simpl; lia. Qed.

Lemma largest_app d a b : largest d (a ++ b) = omax (largest d a) (largest d b).
Proof. unfold largest. induction a; simpl; auto. now rewrite IHa, omax_assoc. Qed.

Lemma zeros_count m u ts : forallb is_zero ts = true -> map (cut m u) ts = map (fun _ => 0) ts.
Proof. intros H. apply map_ext_in. intros x Hx. apply cut_zero. rewrite forallb_forall in H. auto. Qed.

Lemma zsum_zeros {A} (l : list A) : zsum (map (fun _ => 0) l) = 0.
Proof. unfold zsum. induction l; simpl; auto. Qed.

Close Scope Z_scope.
