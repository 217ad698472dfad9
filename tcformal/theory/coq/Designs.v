(** Designs whose blocks are one fused sum are chains of [Spec]: [compute] is [dot], of which the other theorems speak. *)
From Coq Require Import ZArith List Bool Lia.
From TC Require Import Spec Design.
Import ListNotations.
Open Scope Z_scope.

Definition plain_products : product_rule :=
  {| of_a := Kept; of_b := Kept; normalise_factors := false; exponent_step := 1; zero_terms := None; odd_negated := false; even_negated := false;
     product_limit := None; product_rounding := None |}.

(** T-FDPA (XIE Algorithm 7) and E-FDPA (Algorithm 6): blocks of [n] products and c, one NaN word. *)
Definition t_fdpa (s : sum) (n : nat) (fa fb fc fd : format) (nan : Z) : design :=
  {| a_format := fa; b_format := fb; c_format := fc; d_format := fd; scales := None; converted := None;
     factors := plain_products; cutting_of := Whole; block := n; odd_first := false; skips := false; c_rule := Kept;
     sums := OneSum (Stage s); nan_word := nan; nans := OneWord; composed := None |}.

Lemma flush_kept v : flush Kept v = v.
Proof. destruct v; simpl; auto. now destruct (negb _). Qed.

Lemma zero_as_none x v : zero_as None x v = v.
Proof. now destruct v. Qed.

Lemma factor_plain v : factor plain_products Kept v = v.
Proof. unfold factor. now rewrite flush_kept. Qed.

Lemma scaled_product_plain a b k : scaled_product plain_products a b k [] = product a b.
Proof.
  unfold scaled_product. simpl zero_terms. rewrite zero_as_none. replace (subtracted plain_products k) with false by (unfold subtracted; now destruct (Z.odd k)). cbn [fold_left].
  now destruct (product a b).
Qed.

Definition unscaled (x : element) : Prop := scaled_by x = [].

(** What a block gives: a sum, and the design's word where that is a NaN. *)
Lemma block_step_plain s n fa fb fc fd nan v w b : Forall unscaled b ->
  block_step (t_fdpa s n fa fb fc fd nan) (v, w) b =
  (let r := sum_values s (map (fun x => product (decode fa (a_word x)) (decode fb (b_word x))) b ++ [v]) in
   (r, if negb (is_nan r) then w else nan)).
Proof.
  intros U. unfold block_step. cbn [skips t_fdpa andb odd_first c_rule factors]. rewrite flush_kept.
  change (zero_terms plain_products) with (@None Z). rewrite zero_as_none.
  unfold terms. cbn [cutting_of t_fdpa sums nans nan_word whole_factors].
  erewrite (map_ext_in _ (fun x => product (decode fa (a_word x)) (decode fb (b_word x)))).
  - reflexivity.
  - intros x Hx. rewrite Forall_forall in U. rewrite (U x Hx). unfold a_of, b_of, operand.
    cbn [factors t_fdpa converted a_format b_format of_a of_b plain_products exponent_step].
    rewrite Z.eqb_refl, !factor_plain. apply scaled_product_plain.
Qed.

Lemma cut_list_Forall {A} (P : A -> Prop) n : forall k l, Forall P l -> Forall (Forall P) (cut_list k n l).
Proof.
  induction k as [|k IH]; intros l F; simpl; auto. destruct l as [|x r]; auto. constructor.
  - apply Forall_forall. intros y Hy. rewrite Forall_forall in F. apply F. rewrite <- (firstn_skipn n (x :: r)).
    apply in_or_app. now left.
  - apply IH. apply Forall_forall. intros y Hy. rewrite Forall_forall in F. apply F. rewrite <- (firstn_skipn n (x :: r)).
    apply in_or_app. now right.
Qed.

Lemma cut_list_mapped {A B} (g : A -> B) n : forall k l, cut_list k n (map g l) = map (map g) (cut_list k n l).
Proof.
  induction k as [|k IH]; intros [|x r]; auto.
  change (cut_list (S k) n (x :: r)) with (firstn n (x :: r) :: cut_list k n (skipn n (x :: r))).
  change (cut_list (S k) n (map g (x :: r))) with (firstn n (map g (x :: r)) :: cut_list k n (skipn n (map g (x :: r)))).
  now rewrite firstn_map, skipn_map, IH.
Qed.

Lemma encode_not_nan f n n' v : is_nan v = false -> encode f n v = encode f n' v.
Proof. now destruct v. Qed.

Lemma numbered_snd {A} (l : list A) : forall i, map snd (numbered i l) = l.
Proof. induction l as [|x r IH]; intros i; simpl; auto. now rewrite IH. Qed.

(** The unit's function of words is [Spec.dot]. *)
Theorem compute_t_fdpa s n fa fb fc fd nan w : pairs w <> [] ->
  compute (t_fdpa s n fa fb fc fd nan) w = dot s n fa fb fc fd nan (pairs w) (c_word w).
Proof.
  intros N. set (d := t_fdpa s n fa fb fc fd nan). unfold compute. cbn [composed d t_fdpa].
  assert (E : forall bs v m, Forall (Forall unscaled) bs -> (bs = [] -> is_nan v = false \/ m = nan) ->
    let '(r, k) := fold_left (block_step d) bs (v, m) in
    encode fd k r = encode fd nan (chain s (map (map (fun x => product (decode fa (a_word x)) (decode fb (b_word x)))) bs) v)).
  { induction bs as [|b r IH]; intros v m F H.
    - cbn. destruct (H eq_refl) as [Q| ->]; auto using encode_not_nan.
    - inversion F as [|? ? Fb Fr]; subst. cbn [fold_left]. unfold d at 2. rewrite block_step_plain by easy. cbv zeta.
      unfold chain. cbn [map fold_left]. apply (IH _ _ Fr). intros _.
      destruct (is_nan (sum_values s _)); simpl; auto. }
  unfold blocks, start_of. cbn [nans c_format d_format block d t_fdpa].
  set (xs := elements _ w).
  assert (L : length xs = length (pairs w)).
  { unfold xs, elements. rewrite map_length. rewrite <- (numbered_snd (pairs w) 0) at 2. now rewrite map_length. }
  assert (X : map (fun x => product (decode fa (a_word x)) (decode fb (b_word x))) xs = products fa fb (pairs w)).
  { unfold xs, elements, products. rewrite <- (numbered_snd (pairs w) 0) at 2. rewrite !map_map.
    apply map_ext. now intros [k [a b]]. }
  specialize (E (cut_list (length xs) n xs) (decode fc (c_word w)) (c_word w)).
  destruct (fold_left _ _ _) as [r k]. unfold dot. rewrite <- X, cut_list_mapped, <- L. apply E.
  - apply cut_list_Forall. unfold xs, elements. apply Forall_forall. intros x Hx. apply in_map_iff in Hx.
    destruct Hx as [[k' [a b]] [<- _]]. reflexivity.
  - intros C. destruct xs; [destruct (pairs w); easy|]. discriminate.
Qed.
