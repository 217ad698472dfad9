(** What a block's sum does not depend on, of every kind of sum: the order of its products, products of zero. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant.
Import ListNotations.
Open Scope Z_scope.

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

Lemma sum_at_perm d r u ts us : Permutation ts us -> sum_at d r u ts = sum_at d r u us.
Proof.
  intros Q. unfold sum_at. cbv zeta. rewrite (zsum_perm _ _ (Permutation_map (cut (alignment d) u) Q)). f_equal.
  apply sign_of_perm; auto. now apply Permutation_map.
Qed.

Lemma add_from_perm e s vs ws : Permutation vs ws -> add_from e s vs = add_from e s ws.
Proof.
  intros P. destruct e as [e|]; [|now apply add_perm]. cbn [add_from].
  destruct s as [d|d x]; apply on_numbers_perm; auto; intros ts us Q; cbv zeta;
    rewrite (least_lsb_perm _ _ Q), (largest_perm d _ _ Q); now apply sum_at_perm.
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

Lemma block_sum_perm how r e fs fs' ps qs c : at_once how = true -> Permutation ps qs ->
  block_sum how r e fs ps c = block_sum how r e fs' qs c.
Proof.
  intros O P. assert (PC : Permutation (ps ++ [c]) (qs ++ [c])) by now apply Permutation_app_tail.
  pose proof (Permutation_map num_of P) as PN.
  destruct how as [s|s|s|s|s|s [|]|s l|[| | | |] s l|t]; cbn [at_once] in O; try easy; cbn [block_sum inner_sum].
  - now apply add_from_perm.
  - apply on_numbers_perm; auto using sticky_perm.
  - apply on_numbers_perm; auto. intros _ _ _. destruct (group_size s) eqn:G; [easy|]. now apply framed_perm.
  - apply on_numbers_perm; auto. intros _ _ _. unfold round_down_sum. apply negb_true_iff in O. rewrite O. cbn [andb].
    now rewrite (truncated_perm s _ _ PN).
  - apply on_numbers_perm; auto. intros _ _ _. cbv zeta. unfold held.
    rewrite (unit_of_perm s _ _ PN), (zsum_perm _ _ (counts_perm s _ _ PN)). f_equal.
    apply sign_of_perm; auto using counts_perm.
  - now rewrite (add_from_perm e s _ _ P).
Qed.

(** The same of products that are cut as two numbers, whose factors come with them. *)
Lemma halves_perm s r e fs fs' ps qs c : Permutation ps qs -> Permutation (combine ps fs) (combine qs fs') ->
  block_sum (CAfter s true) r e fs ps c = block_sum (CAfter s true) r e fs' qs c.
Proof.
  intros P Q. cbn [block_sum]. apply on_numbers_perm; [now apply Permutation_app_tail|]. intros _ _ _. cbv zeta.
  pose proof (Permutation_map num_of P) as PN. rewrite (unit_of_perm s _ _ PN). set (u := unit_of s (map num_of qs)).
  assert (C : forall (l : list val) gs, combine (map num_of l) gs = map (fun x : val * (num * num) => (num_of (fst x), snd x)) (combine l gs)).
  { induction l as [|a l IH]; intros [|g gs]; cbn; auto. now rewrite IH. }
  rewrite !C. pose proof (Permutation_map (fun xf : num * (num * num) => let '(x, (a, b)) := xf in if is_zero x then 0 else cut_in_halves u (neg x) a b)
    (Permutation_map (fun x : val * (num * num) => (num_of (fst x), snd x)) Q)) as N.
  rewrite (zsum_perm _ _ N). f_equal. now apply sign_of_perm.
Qed.

Lemma group_perm m ps qs ss : Permutation ps qs -> group_term m ps ss = group_term m qs ss.
Proof.
  intros P. unfold group_term. cbv zeta. rewrite (existsb_perm _ _ _ P). pose proof (numbers_perm _ _ P) as N.
  assert (E : match numbers ps with
    | Some ts => Num {| neg := sign_of m (zsum (map (cut RZ (least_lsb ts)) ts)) ts (map (cut RZ (least_lsb ts)) ts);
        sig := Z.abs (zsum (map (cut RZ (least_lsb ts)) ts)); exp := 0; frac := - least_lsb ts |}
    | None => special_sum ps end = match numbers qs with
    | Some ts => Num {| neg := sign_of m (zsum (map (cut RZ (least_lsb ts)) ts)) ts (map (cut RZ (least_lsb ts)) ts);
        sig := Z.abs (zsum (map (cut RZ (least_lsb ts)) ts)); exp := 0; frac := - least_lsb ts |}
    | None => special_sum qs end).
  { destruct (numbers ps) as [ts|], (numbers qs) as [us|]; try easy; [|now apply special_perm].
    rewrite (least_lsb_perm _ _ N). set (u := least_lsb us). pose proof (Permutation_map (cut RZ u) N) as C.
    now rewrite (zsum_perm _ _ C), (sign_of_perm m _ _ _ _ _ N C). }
  now rewrite E.
Qed.

(** What an element's term depends on where all products, or none, are subtracted. *)
Definition factors_of (x : element) : Z * Z * list val := (a_word x, b_word x, scaled_by x).
Definition scales_of (g : list element) : list val := match g with x :: _ => scaled_by x | [] => [] end.

(** Blocks of the same products, each with its scales: in groups, within each and as wholes. *)
Definition same_factors (b b' : list element) : Prop := Permutation (map factors_of b) (map factors_of b').
Definition reordered (d : design) (b b' : list element) : Prop :=
  match cutting_of d with
  | Groups size => exists gs, Permutation (cut_list (length b) size b) gs /\
      Forall2 (fun g g' => same_factors g g' /\ scales_of g = scales_of g') gs (cut_list (length b') size b')
  | _ => same_factors b b'
  end.

(** Products that are cut as two numbers are whole.  Groups are those that share scales: then these are all orders in which every product keeps its scales. *)
Definition halved (d : design) : bool := match sums d, cutting_of d with CAfter _ true, Whole => true | _, _ => false end.
Definition order_free (d : design) : bool :=
  (at_once (sums d) || halved d) && match cutting_of d, scales d with Groups size, Some (_, n) => negb (odd_first d) && (size =? n)%nat | Groups _, None => false | _, _ => true end &&
  eqb (odd_negated (factors d)) (even_negated (factors d)) && one_nan d && match composed d with None => true | _ => false end.

Section Products.
Variable d : design.
Hypothesis Od : odd_negated (factors d) = even_negated (factors d).

(** A product, and with the numbers of its factors, as a function of its words. *)
Definition factor_of_words (k : Z * Z * list val) : val * val :=
  (factor (factors d) (of_a (factors d)) (operand d (a_format d) (fst (fst k))),
   factor (factors d) (of_b (factors d)) (operand d (b_format d) (snd (fst k)))).
Definition of_words (ss : Z * Z * list val -> list val) (k : Z * Z * list val) : val :=
  scaled_product (factors d) (fst (factor_of_words k)) (snd (factor_of_words k)) 0 (ss k).

Lemma one_of_words ss x : scaled_product (factors d) (a_of d x) (b_of d x) (index x) (ss (factors_of x)) = of_words ss (factors_of x).
Proof. unfold of_words, scaled_product, a_of, b_of, subtracted. rewrite Od. now destruct (Z.odd (index x)), (Z.odd 0). Qed.

Lemma swapped_perm {A} (l : list A) : Permutation (swapped l) l.
Proof.
  assert (Q : forall n (l : list A), (length l <= n)%nat -> Permutation (swapped l) l).
  { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; auto; cbn in *; try lia.
    eapply perm_trans; [apply perm_swap|]. do 2 constructor. apply IH. lia. }
  eapply Q; eauto.
Qed.

Lemma ordered_same b b' : same_factors b b' -> same_factors (ordered d b) (ordered d b').
Proof.
  intros P. unfold same_factors, ordered in *. destruct (odd_first d); auto.
  eapply perm_trans; [apply Permutation_map, swapped_perm|]. eapply perm_trans; [exact P|]. apply Permutation_sym, Permutation_map, swapped_perm.
Qed.

Lemma products_perm ss b b' : same_factors b b' ->
  Permutation (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (ss (factors_of x))) b)
              (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (ss (factors_of x))) b').
Proof.
  intros P. rewrite !(map_ext _ _ (one_of_words ss)), <- !(map_map factors_of (of_words ss)). now apply Permutation_map.
Qed.

Lemma flat_map_map {A B D} (g : A -> B) (h : B -> list D) l : flat_map h (map g l) = flat_map (fun x => h (g x)) l.
Proof. induction l; cbn; congruence. Qed.

Lemma terms_perm b b' : match cutting_of d with Groups _ => odd_first d = false | _ => True end -> reordered d b b' ->
  Permutation (fst (terms d (ordered d b))) (fst (terms d (ordered d b'))) /\ snd (terms d (ordered d b)) = snd (terms d (ordered d b')).
Proof.
  unfold reordered, terms. intros G R. destruct (cutting_of d) as [|size n|size]; cbn [fst snd].
  - split; auto. apply (products_perm snd). now apply ordered_same.
  - split; auto. pose proof (ordered_same _ _ R) as P.
    set (t := fun k : Z * Z * list val => match of_words snd k with
      | Num y => map Num (pieces size n (num_of (fst (factor_of_words k))) (num_of (snd (factor_of_words k))) y) | v => [v] end).
    assert (E : forall l, flat_map (fun x => match scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x) with
      | Num y => map Num (pieces size n (num_of (a_of d x)) (num_of (b_of d x)) y) | v => [v] end) l = flat_map t (map factors_of l)).
    { intros l. rewrite flat_map_map. apply flat_map_ext. intros x. unfold t. rewrite <- (one_of_words snd x). reflexivity. }
    rewrite !E. now apply Permutation_flat_map.
  - unfold ordered. rewrite G. destruct R as [gs [P F]].
    set (m := match sums d with OneSum s | CLast _ s _ => _ | _ => RNE end).
    set (t := fun g : list element => group_term m (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) []) g) (match g with x :: _ => scaled_by x | [] => [] end)).
    assert (X : forall g g', same_factors g g' -> scales_of g = scales_of g' -> t g = t g').
    { intros g g' Hg Hs. unfold t. change (match g with x :: _ => scaled_by x | [] => [] end) with (scales_of g). rewrite Hs.
      apply group_perm. now apply (products_perm (fun _ => [])). }
    assert (Q : map t gs = map t (cut_list (length b') size b')).
    { clear P. induction F as [|g g' gs gs' [Hg Hs] F IH]; cbn [map]; auto. now rewrite IH, (X g g' Hg Hs). }
    pose proof (Permutation_map t P) as T. rewrite Q in T. split; [now apply Permutation_map|].
    unfold omax_list. apply fold_omax_perm. now apply Permutation_map.
Qed.
End Products.

(** The same products, with their scales, in another order within every block: the same word. *)
Theorem product_order_idle d w w' : order_free d = true -> pairs w <> [] -> c_word w = c_word w' ->
  Forall2 (reordered d)
    (cut_list (length (elements d w)) (block d) (elements d w)) (cut_list (length (elements d w')) (block d) (elements d w')) ->
  pairs w' <> [] -> compute d w = compute d w'.
Proof.
  intros O N Ec P N'. unfold order_free in O. repeat rewrite andb_true_iff in O. destruct O as [[[[A W] Od] ON] Co].
  destruct (composed d) eqn:Cd; [easy|]. apply eqb_prop in Od.
  rewrite !compute_word by auto. f_equal. unfold value. rewrite Cd, Ec. unfold values.
  assert (Sk : skips d = false). { unfold one_nan in ON. rewrite Cd in ON. destruct (nans d); try easy. now apply negb_true_iff in ON. }
  generalize (decode (c_format d) (c_word w')) as v.
  induction P as [|b b' r r' Hb P IH]; intros v; [reflexivity|]. cbn [fold_left]. rewrite IH. f_equal.
  unfold block_value, skipped. rewrite Sk. cbn [andb].
  destruct (terms_perm d Od b b') as [T E]; auto. { destruct (cutting_of d); auto. destruct (scales d) as [[? ?]|]; [|easy]. apply andb_prop in W. now apply negb_true_iff. }
  rewrite E. apply orb_prop in A. destruct A as [A|A]; [now apply block_sum_perm|].
  unfold halved in A. destruct (sums d) as [| | | | |s [|]| | |] eqn:S; try easy. destruct (cutting_of d) eqn:Cu; try easy. apply halves_perm; [exact T|].
  unfold terms, whole_factors. rewrite Cu, S. cbn [fst]. unfold reordered in Hb. rewrite Cu in Hb.
  assert (C : forall l, combine (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)) l)
      (map (fun x => (num_of (operand d (a_format d) (a_word x)), num_of (operand d (b_format d) (b_word x)))) l) =
    map (fun k => (of_words d snd k, (num_of (operand d (a_format d) (fst (fst k))), num_of (operand d (b_format d) (snd (fst k)))))) (map factors_of l)).
  { induction l as [|x l IHl]; cbn [map combine]; [reflexivity|]. now rewrite IHl, <- (one_of_words d Od snd x). }
  rewrite !C. apply Permutation_map. now apply ordered_same.
Qed.

(** * Products of zero *)

Definition plus_zero (v : val) : Prop := exists x, v = Num x /\ is_zero x = true.

(** The exponent of zeros is at most this, so that they do not show where a term of at least that exponent is there. *)
Definition zero_at_most (s : sum) (l : Z) : bool :=
  match zero_exponent s with ZeroNone => true | ZeroOwn => false | ZeroAt z => z <=? l end.

Definition unseen_sign (c : conversion) : bool := match zsign c with IeeeSign => false | _ => true end.

Lemma convert_unseen c s t n u : unseen_sign c = true -> (n <> 0 -> s = t) -> convert c s n u = convert c t n u.
Proof.
  intros S H. unfold convert. destruct (Z.eqb_spec n 0) as [->|N]; [|now rewrite H].
  unfold unseen_sign in S. destruct (zsign c); try easy.
Qed.

Lemma sign_unseen m n ts us ns ms : n <> 0 -> sign_of m n ts ns = sign_of m n us ms.
Proof. intros N. unfold sign_of. now destruct (Z.eqb_spec n 0). Qed.

Lemma zeros_num zs : Forall plus_zero zs -> exists us, zs = map Num us /\ forallb is_zero us = true.
Proof. induction 1 as [|v r [x [-> Zx]] Hz [us [-> U]]]; [exists []; auto|]. exists (x :: us). cbn. now rewrite Zx, U. Qed.

Lemma numbers_zeros us vs : numbers (map Num us ++ vs) = match numbers vs with Some ts => Some (us ++ ts) | None => None end.
Proof.
  unfold numbers. rewrite forallb_app, map_app, map_map. cbn [num_of]. rewrite map_id.
  assert (F : forallb is_num (map Num us) = true) by (clear; induction us; cbn; auto). rewrite F. cbn [andb]. now destruct (forallb is_num vs).
Qed.

Lemma special_zeros us vs : special_sum (map Num us ++ vs) = special_sum vs.
Proof.
  unfold special_sum. rewrite !existsb_app.
  assert (E : forall q : val -> bool, (forall x, q (Num x) = false) -> existsb q (map Num us) = false).
  { intros q Hq. clear -Hq. induction us; cbn; auto. now rewrite Hq. }
  rewrite !E by reflexivity. reflexivity.
Qed.

Lemma on_numbers_zeros (g h : list num -> val) us vs : (forall ts, numbers vs = Some ts -> g (us ++ ts) = h ts) ->
  on_numbers g (map Num us ++ vs) = on_numbers h vs.
Proof.
  intros H. unfold on_numbers. rewrite numbers_zeros. destruct (numbers vs) as [ts|]; [now apply H|apply special_zeros].
Qed.

Lemma zeros_least d us l : forallb is_zero us = true -> zero_at_most d l = true -> ole (largest d us) (Some l).
Proof.
  intros Uz Zb. apply largest_le. intros y Hy. rewrite forallb_forall in Uz. specialize (Uz y Hy). unfold term_exponent. rewrite Uz.
  unfold zero_at_most in Zb. destruct (zero_exponent d) as [| |z]; try easy. now apply Z.leb_le in Zb.
Qed.

Lemma zeros_none d us : forallb is_zero us = true -> zero_exponent d = ZeroNone -> largest d us = None.
Proof.
  intros Uz Zn. apply ole_antisym; [|easy]. apply largest_le. intros y Hy. rewrite forallb_forall in Uz. specialize (Uz y Hy). unfold term_exponent. now rewrite Uz, Zn.
Qed.

(** Zeros beside terms of a larger exponent. *)
Lemma sum_at_zeros d u us ts : forallb is_zero us = true -> unseen_sign (out d) = true ->
  sum_at d (Floating (out d)) u (us ++ ts) = sum_at d (Floating (out d)) u ts.
Proof.
  intros Uz S. unfold sum_at. cbv zeta. rewrite map_app, zsum_app, (zeros_count _ _ _ Uz), zsum_zeros. cbn [Z.add round_to].
  apply convert_unseen; auto. intros N. now apply sign_unseen.
Qed.

Lemma sum_numbers_at d ts : sum_numbers d ts = sum_at d (Floating (out d)) (unit_of d ts) ts.
Proof. reflexivity. Qed.

Lemma from_zeros e d us vs : forallb is_zero us = true -> unseen_sign (out d) = true -> fraction_bits d <> None ->
  (forall ts, numbers vs = Some ts -> ole (largest d us) (largest d ts)) ->
  add_from e (Stage d) (map Num us ++ vs) = add_from e (Stage d) vs.
Proof.
  intros Uz S F L. destruct (fraction_bits d) as [f|] eqn:Fd; [|easy]. destruct e as [e|]; cbn [add_from add stage_rounding].
  - apply on_numbers_zeros. intros ts Nt. cbv zeta. rewrite Fd, largest_app, (omax_absorb (largest d us) (largest d ts)) by now apply L. now apply sum_at_zeros.
  - unfold sum_values. apply (on_numbers_zeros (sum_numbers d) (sum_numbers d)). intros ts Nt. rewrite !sum_numbers_at.
    assert (U : unit_of d (us ++ ts) = unit_of d ts) by (unfold unit_of; now rewrite Fd, largest_app, omax_absorb by now apply L).
    rewrite U. now apply sum_at_zeros.
Qed.

(** ** Sums that are rounded down *)

Lemma truncated_zeros d us ts : forallb is_zero us = true -> zero_exponent (products_sum d) = ZeroNone -> fraction_bits (products_sum d) <> None ->
  count (truncated d (us ++ ts)) = count (truncated d ts) /\ unit (truncated d (us ++ ts)) = unit (truncated d ts) /\ Design.top (truncated d (us ++ ts)) = Design.top (truncated d ts).
Proof.
  intros Uz Zn F. unfold truncated. cbn [count unit Design.top]. set (s := products_sum d) in *.
  assert (L : largest s (us ++ ts) = largest s ts) by (rewrite largest_app, zeros_none by auto; now destruct (largest s ts)).
  assert (U : unit_of s (us ++ ts) = unit_of s ts) by (unfold unit_of; rewrite L; now destruct (fraction_bits s)).
  split; [|auto]. unfold total, counts. rewrite U, map_app, zsum_app, (zeros_count _ _ _ Uz), zsum_zeros. reflexivity.
Qed.

Lemma add_c_unseen d x y c : unseen_sign (out (products_sum d)) = true -> count x = count y -> unit x = unit y -> Design.top x = Design.top y ->
  add_c d x c = add_c d y c.
Proof.
  intros S Ec Eu Et. unfold add_c. cbv zeta. rewrite Ec, Eu, Et. set (o := out (products_sum d)) in *.
  match goal with |- (if _ then convert o (sign_of _ ?n ?ts ?ns) _ _ else _) = _ => set (N := n) end.
  destruct (cut_again d).
  - apply convert_unseen; auto. intros H. apply sign_unseen. intros Z. apply H. rewrite Z. apply round_div_0.
  - apply convert_unseen; auto. intros H. now apply sign_unseen.
Qed.

Definition same_partial (x y : partial) : Prop := count x = count y /\ unit x = unit y /\ Design.top x = Design.top y.

Lemma truncated_beside d us ps qs : forallb is_zero us = true -> zero_exponent (products_sum d) = ZeroNone -> fraction_bits (products_sum d) <> None ->
  Permutation qs (us ++ ps) -> same_partial (truncated d qs) (truncated d ps).
Proof. intros Uz Zn F P. rewrite (truncated_perm d _ _ P). now apply truncated_zeros. Qed.

Lemma sides_beside d x y x' y' : same_partial x' x -> same_partial y' y -> same_partial (sum_of_sides d x' y') (sum_of_sides d x y).
Proof.
  intros [A [B C]] [A' [B' C']]. unfold same_partial, sum_of_sides. cbn [count unit Design.top]. now rewrite A, B, C, A', B', C'.
Qed.

(** ** Blocks *)

(** Terms with zeros beside them; of a sum in two halves, in both of which products are. *)
Definition with_zeros (how : summation) (ps qs : list val) : Prop :=
  match how with
  | RoundedDown d => if two_sums d
      then (1 < length ps)%nat /\ (1 < length qs)%nat /\
        (exists zs, Forall plus_zero zs /\ Permutation (evens qs) (zs ++ evens ps)) /\
        (exists zs, Forall plus_zero zs /\ Permutation (odds qs) (zs ++ odds ps)) /\ (exists zs, Forall plus_zero zs /\ Permutation qs (zs ++ ps))
      else exists zs, Forall plus_zero zs /\ Permutation qs (zs ++ ps)
  | _ => exists zs, Forall plus_zero zs /\ Permutation qs (zs ++ ps)
  end.

Definition has_bits (s : sum) : bool := match fraction_bits s with None => false | _ => true end.
Definition zero_none (s : sum) : bool := match zero_exponent s with ZeroNone => true | _ => false end.

Definition zeros_unseen (d : design) : bool :=
  match sums d with
  | OneSum (Stage s) => has_bits s && unseen_sign (out s) && negb (normalise s) && (0 <=? p (out s)) && (emin (out s) <=? emax (out s)) &&
      zero_at_most s (Z.min (least (start_format d)) (emin (out s)))
  | CLast Together (Stage s) _ => has_bits s && unseen_sign (out s) && zero_none s
  | CAfter s false => has_bits s && unseen_sign (out s) && zero_none s
  | RoundedDown r => has_bits (products_sum r) && unseen_sign (out (products_sum r)) && zero_none (products_sum r)
  | _ => false
  end.

Definition zero_products_ok (d : design) : bool :=
  zeros_unseen d && one_nan d && negb (skips d) && match zero_terms (factors d) with None => true | _ => false end && parts_ok d &&
  format_ok (start_format d) && kept_or_zero (c_rule d).

Lemma evens_map {A B} (g : A -> B) l : evens (map g l) = map g (evens l).
Proof.
  unfold evens. assert (G : forall n (l : list A), (length l <= n)%nat -> every_second (map g l) = map g (every_second l)).
  { induction n as [|n IH]; intros m L; destruct m as [|x [|y r]]; auto; cbn in *; try lia. now rewrite IH by lia. }
  eapply G; eauto.
Qed.

Lemma odds_map {A B} (g : A -> B) l : odds (map g l) = map g (odds l).
Proof. unfold odds. rewrite <- evens_map. unfold evens. now destruct l. Qed.

Lemma numbers_beside (g h : list num -> val) us ps qs c : Permutation qs (map Num us ++ ps) -> (forall ts us, g ts = h us) ->
  on_numbers g (qs ++ [c]) = on_numbers h (ps ++ [c]).
Proof.
  intros P H. rewrite (on_numbers_perm g g (qs ++ [c]) (map Num us ++ (ps ++ [c]))).
  - apply on_numbers_zeros. intros. apply H.
  - rewrite app_assoc. now apply Permutation_app_tail.
  - intros. rewrite (H ts []). now rewrite (H us0 []).
Qed.

(** The C that a block is given: a number of the first format, or a result. *)
Definition c_least (d : design) (v : val) : Prop :=
  match sums d with OneSum (Stage s) => good_c s (start_format d) v | _ => True end.

Lemma block_zeros d fs fs' e ps qs c : zeros_unseen d = true -> with_zeros (sums d) ps qs -> c_least d c ->
  block_sum (sums d) (c_rule d) e fs' qs c = block_sum (sums d) (c_rule d) e fs ps c.
Proof.
  intros O W C. unfold zeros_unseen in O. destruct (sums d) as [[s|]| | | |r|s [|]|s l|[| | | |] [s|] l|t] eqn:S; try easy; cbn [block_sum inner_sum].
  - repeat rewrite andb_true_iff in O. destruct O as [[[[[F Us] Nn] P] E] Z]. destruct W as [zs [Hz Pq]]. destruct (zeros_num _ Hz) as [us [-> Uz]].
    apply negb_true_iff in Nn. rewrite (add_from_perm e (Stage s) (qs ++ [c]) (map Num us ++ (ps ++ [c]))) by (rewrite app_assoc; now apply Permutation_app_tail).
    apply from_zeros; auto. { unfold has_bits in F. now destruct (fraction_bits s). }
    intros ts Nt. destruct (numbers_app _ _ _ Nt) as [vs [x [-> [Ex ->]]]]. unfold c_least in C. rewrite S in C. destruct (C x Ex) as [_ L].
    eapply ole_trans with (term_exponent s x); [|apply largest_in; apply in_or_app; right; now left].
    apply largest_le. intros y Hy. rewrite forallb_forall in Uz. specialize (Uz y Hy). unfold term_exponent. rewrite Uz.
    unfold zero_at_most in Z. destruct (zero_exponent s) as [| |z]; try easy. apply Z.leb_le in Z.
    destruct (is_zero x); cbn; [lia|]. rewrite Nn. cbn. lia.
  - repeat rewrite andb_true_iff in O. destruct O as [[F Us] Zn]. destruct (two_sums r) eqn:T2.
    + cbn [with_zeros] in W. rewrite T2 in W. destruct W as [L1 [L2 [[ze [He Pe]] [[zo [Ho Po]] [zs [Hz Pq]]]]]].
      destruct (zeros_num _ He) as [ue [-> Ue]]. destruct (zeros_num _ Ho) as [uo [-> Uo]]. destruct (zeros_num _ Hz) as [us [-> Uz]].
      apply (numbers_beside _ _ us ps qs c Pq). intros _ _. unfold round_down_sum. rewrite T2, !map_length. cbn [andb].
      destruct (Z.ltb_spec 1 (Z.of_nat (length qs))); [|lia]. destruct (Z.ltb_spec 1 (Z.of_nat (length ps))); [|lia].
      assert (Zn' : zero_exponent (products_sum r) = ZeroNone) by (unfold zero_none in Zn; now destruct (zero_exponent (products_sum r))).
      assert (F' : fraction_bits (products_sum r) <> None) by (unfold has_bits in F; now destruct (fraction_bits (products_sum r))).
      pose proof (Permutation_map num_of Pe) as Qe. pose proof (Permutation_map num_of Po) as Qo. rewrite map_app, map_map in Qe, Qo. cbn [num_of] in Qe, Qo. rewrite map_id in Qe, Qo.
      rewrite !evens_map, !odds_map.
      destruct (sides_beside r _ _ _ _ (truncated_beside r ue _ _ Ue Zn' F' Qe) (truncated_beside r uo _ _ Uo Zn' F' Qo)) as [A [B D]].
      now apply add_c_unseen.
    + cbn [with_zeros] in W. rewrite T2 in W. destruct W as [zs [Hz Pq]]. destruct (zeros_num _ Hz) as [us [-> Uz]].
      apply (numbers_beside _ _ us ps qs c Pq). intros _ _. unfold round_down_sum. rewrite T2. cbn [andb].
      assert (Zn' : zero_exponent (products_sum r) = ZeroNone) by (unfold zero_none in Zn; now destruct (zero_exponent (products_sum r))).
      assert (F' : fraction_bits (products_sum r) <> None) by (unfold has_bits in F; now destruct (fraction_bits (products_sum r))).
      pose proof (Permutation_map num_of Pq) as Qq. rewrite map_app, map_map in Qq. cbn [num_of] in Qq. rewrite map_id in Qq.
      destruct (truncated_beside r us _ _ Uz Zn' F' Qq) as [A [B D]]. now apply add_c_unseen.
  - repeat rewrite andb_true_iff in O. destruct O as [[F Us] Zn]. destruct W as [zs [Hz Pq]]. destruct (zeros_num _ Hz) as [us [-> Uz]].
    apply (numbers_beside _ _ us ps qs c Pq). intros _ _. cbv zeta.
    assert (Zn' : zero_exponent s = ZeroNone) by (unfold zero_none in Zn; now destruct (zero_exponent s)).
    pose proof (Permutation_map num_of Pq) as Qq. rewrite map_app, map_map in Qq. cbn [num_of] in Qq. rewrite map_id in Qq.
    assert (U : unit_of s (map num_of qs) = unit_of s (map num_of ps)).
    { rewrite (unit_of_perm s _ _ Qq). unfold unit_of. rewrite largest_app, (zeros_none s us Uz Zn'). unfold has_bits in F. destruct (fraction_bits s); [|easy].
      now destruct (largest s (map num_of ps)). }
    assert (N : zsum (counts s (map num_of qs)) = zsum (counts s (map num_of ps))).
    { unfold counts. rewrite U, (zsum_perm _ _ (Permutation_map (cut (alignment s) (unit_of s (map num_of ps))) Qq)), map_app, zsum_app, (zeros_count _ _ _ Uz), zsum_zeros. reflexivity. }
    rewrite U, N. unfold plus. apply convert_unseen; auto. intros H. now apply sign_unseen.
  - repeat rewrite andb_true_iff in O. destruct O as [[F Us] Zn]. destruct W as [zs [Hz Pq]]. destruct (zeros_num _ Hz) as [us [-> Uz]].
    assert (Zn' : zero_exponent s = ZeroNone) by (unfold zero_none in Zn; now destruct (zero_exponent s)).
    do 2 f_equal. rewrite (add_from_perm e (Stage s) _ _ Pq). apply from_zeros; auto. { unfold has_bits in F. now destruct (fraction_bits s). }
    intros ts _. now rewrite (zeros_none s us Uz Zn').
Qed.

(** Blocks with products of zero beside their own give the same: half a unit's products at rest change nothing. *)
Theorem zero_products_idle d bs bs' : zero_products_ok d = true ->
  Forall2 (fun b b' => with_zeros (sums d) (fst (terms d (ordered d b))) (fst (terms d (ordered d b'))) /\
    snd (terms d (ordered d b')) = snd (terms d (ordered d b))) bs bs' ->
  forall v, c_least d v -> fold_left (block_value d) bs' v = fold_left (block_value d) bs v.
Proof.
  intros O H. unfold zero_products_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[Z ON] Sk] Zt] PO] Oc] Kc]. apply negb_true_iff in Sk.
  destruct (zero_terms (factors d)) eqn:Zt'; [easy|].
  induction H as [|b b' r r' [Hw He] H IH]; intros v Gv; [reflexivity|]. cbn [fold_left].
  assert (E : block_value d v b' = block_value d v b).
  { unfold block_value, skipped. rewrite Sk. cbn [andb]. rewrite He. apply block_zeros; auto.
    unfold c_least in *. destruct (sums d) as [[s|]| | | | | | | |]; auto. rewrite taken_kept by auto. now apply flush_good. }
  rewrite E. apply IH. unfold c_least, block_value, skipped. rewrite Sk. cbn [andb]. unfold zeros_unseen in Z.
  destruct (sums d) as [[s|]| | | | | | | |]; auto. cbn [block_sum]. repeat rewrite andb_true_iff in Z. destruct Z as [[[[[F Us] Nn] P] E1] Z].
  destruct (snd (terms d (ordered d b))); cbn [add_from add stage_rounding].
  - unfold on_numbers. destruct (numbers _); [|intros x Hx; exfalso; now apply (special_not_num _ x Hx)]. cbv zeta. unfold sum_at. cbn [round_to].
    intros x Hx. split.
    + eapply convert_fits; eauto; lia.
    + pose proof (convert_exp_min _ _ _ _ _ Hx ltac:(lia)). lia.
  - apply sum_good; lia.
Qed.
