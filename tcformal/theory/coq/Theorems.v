(** Claims about designs, each proved once for all numbers of terms, fraction bits and formats.

    Numbers of the brief: (a) error of a sum; (b) of a chain; (c) carry bits; (d) exponent of zeros; (e) order of terms;
    (f) negation; (g) integers; (h) region of agreement; (i) monotonicity; (j) zero products; (k) relative error.
    [Print Assumptions] names the axioms of Coq's classical reals and nothing else. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec.
Import ListNotations.
Open Scope R_scope.

Notation bp := (bpow radix2).

(** ** Rounding of integers = Flocq's rounding of reals *)

Definition rnd (m : mode) : R -> Z :=
  match m with RNE => ZnearestE | RNA => ZnearestA | RZ => Ztrunc | RD => Zfloor | RU => Zceil | RO => Zrnd_odd end.

Global Instance valid_rnd_mode m : Valid_rnd (rnd m).
Proof. destruct m; simpl; auto with typeclass_instances. Qed.

Lemma bp_Z k : (0 <= k)%Z -> bp k = IZR (2 ^ k).
Proof. intros H. now rewrite <- (IZR_Zpower radix2). Qed.

Lemma Zfloor_eq n x : IZR n <= x < IZR n + 1 -> Zfloor x = n.
Proof. intros H. apply Zfloor_imp. rewrite plus_IZR. exact H. Qed.

(** [Spec.round_div] in products, quotients and remainders. *)
Lemma round_div_unfold m x k : round_div m x k =
  (if k <=? 0 then x * 2 ^ (- k) else
   if x mod 2 ^ k =? 0 then x / 2 ^ k else
   match m with
   | RD => x / 2 ^ k
   | RU => x / 2 ^ k + 1
   | RZ => if x <? 0 then x / 2 ^ k + 1 else x / 2 ^ k
   | RO => if Z.even (x / 2 ^ k) then x / 2 ^ k + 1 else x / 2 ^ k
   | RNE => match 2 * (x mod 2 ^ k) ?= 2 ^ k with
            | Lt => x / 2 ^ k | Gt => x / 2 ^ k + 1
            | Eq => if Z.even (x / 2 ^ k) then x / 2 ^ k else x / 2 ^ k + 1 end
   | RNA => match 2 * (x mod 2 ^ k) ?= 2 ^ k with
            | Lt => x / 2 ^ k | Gt => x / 2 ^ k + 1
            | Eq => if x <? 0 then x / 2 ^ k else x / 2 ^ k + 1 end
   end)%Z.
Proof.
  unfold round_div. destruct (Z.leb_spec k 0).
  - now rewrite Z.shiftl_mul_pow2 by lia.
  - rewrite Z.shiftr_div_pow2, !Z.shiftl_mul_pow2, Z.mul_1_l by lia.
    replace (x - x / 2 ^ k * 2 ^ k)%Z with (x mod 2 ^ k)%Z; auto.
    rewrite Z.mod_eq; [lia|]. apply Z.pow_nonzero; lia.
Qed.

Lemma round_div_ok m x k : round_div m x k = rnd m (IZR x * bp (- k)).
Proof.
  rewrite round_div_unfold. destruct (Z.leb_spec k 0) as [Hk|Hk].
  - rewrite bp_Z by lia. rewrite <- mult_IZR. now rewrite Zrnd_IZR by auto with typeclass_instances.
  - set (d := (2 ^ k)%Z). assert (Hd : (0 < d)%Z) by (apply Z.pow_pos_nonneg; lia).
    assert (HdR : 0 < IZR d) by now apply IZR_lt.
    assert (Hy : IZR x * bp (- k) = IZR x / IZR d).
    { rewrite bpow_opp, bp_Z by lia. reflexivity. }
    rewrite Hy. set (y := IZR x / IZR d).
    set (q := (x / d)%Z). set (r := (x mod d)%Z).
    assert (Hx : x = (d * q + r)%Z) by (apply Z.div_mod; lia).
    assert (Hr : (0 <= r < d)%Z) by (apply Z.mod_pos_bound; lia).
    assert (Hyq : y = IZR q + IZR r / IZR d).
    { unfold y. rewrite Hx at 1. rewrite plus_IZR, mult_IZR. field. lra. }
    assert (Hf : Zfloor y = q) by (apply Zfloor_div; lia).
    destruct (Z.eqb_spec r 0) as [Hr0|Hr0].
    + assert (Hyq' : y = IZR q) by (rewrite Hyq, Hr0; field; lra).
      rewrite Hyq'. now rewrite Zrnd_IZR by auto with typeclass_instances.
    + assert (Hr1 : 0 < IZR r / IZR d < 1).
      { split. apply Rdiv_lt_0_compat; [apply IZR_lt; lia | lra].
        apply Rmult_lt_reg_r with (IZR d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
        rewrite Rmult_1_r, Rmult_1_l. apply IZR_lt. lia. }
      assert (Hc : Zceil y = (q + 1)%Z).
      { rewrite Zceil_floor_neq; rewrite Hf; [reflexivity|]. lra. }
      assert (Hneg : (x <? 0)%Z = (q <? 0)%Z).
      { destruct (Z.ltb_spec x 0); destruct (Z.ltb_spec q 0); nia || reflexivity. }
      assert (Hcmp : forall P Q S : Z, match (2 * r ?= d)%Z with Lt => P | Gt => Q | Eq => S end =
                       match Rcompare (y - IZR q) (/ 2) with Lt => P | Gt => Q | Eq => S end).
      { intros. replace (y - IZR q) with (IZR r / IZR d) by lra.
        assert (Hrr : IZR r / IZR d * (2 * IZR d) = IZR (2 * r)) by (rewrite mult_IZR; field; lra).
        destruct (Z.compare_spec (2 * r) d) as [H|H|H].
        - rewrite Rcompare_Eq; [reflexivity|]. apply Rmult_eq_reg_r with (2 * IZR d); [|lra].
          rewrite Hrr, H. field.
        - rewrite Rcompare_Lt; [reflexivity|]. apply Rmult_lt_reg_r with (2 * IZR d); [lra|].
          rewrite Hrr. apply IZR_lt in H. lra.
        - rewrite Rcompare_Gt; [reflexivity|]. apply Rmult_lt_reg_r with (2 * IZR d); [lra|].
          rewrite Hrr. apply IZR_lt in H. lra. }
      destruct m; simpl rnd.
      * (* RNE *) rewrite Hcmp. unfold Znearest. rewrite Hf, Hc.
        destruct (Rcompare _ _); try reflexivity. now destruct (Z.even q).
      * (* RNA *) rewrite Hcmp. unfold Znearest. rewrite Hf, Hc.
        destruct (Rcompare _ _); try reflexivity. rewrite Hneg.
        destruct (Z.ltb_spec q 0); destruct (Z.leb_spec 0 q); reflexivity || lia.
      * (* RZ *) unfold Ztrunc. rewrite Hf, Hc. rewrite Hneg.
        destruct (Z.ltb_spec q 0) as [H|H].
        -- rewrite Rlt_bool_true; [reflexivity|]. assert (IZR q <= -1) by (apply IZR_le; lia). lra.
        -- rewrite Rlt_bool_false; [reflexivity|]. assert (0 <= IZR q) by (apply IZR_le; lia). lra.
      * now rewrite Hf.
      * now rewrite Hc.
      * unfold Zrnd_odd. destruct (Req_EM_T _ _) as [H|H].
        -- exfalso. rewrite Hf in H. lra.
        -- rewrite Hf, Hc. now destruct (Z.even q).
Qed.

(** ** The value of a number; cutting a term = rounding to a fixed point *)

Definition V (x : num) : R := IZR (signed x) * bp (lsb x).
Definition fix_rnd m u := round radix2 (FIX_exp u) (rnd m).

Lemma cut_ok m u x : IZR (cut m u x) * bp u = fix_rnd m u (V x).
Proof.
  unfold cut, fix_rnd, round, F2R, scaled_mantissa, cexp, FIX_exp; simpl. rewrite round_div_ok.
  do 3 f_equal. unfold V. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Definition Rsum (l : list R) : R := fold_right Rplus 0 l.

Lemma Rsum_app l1 l2 : Rsum (l1 ++ l2) = Rsum l1 + Rsum l2.
Proof. induction l1; simpl; lra. Qed.

Lemma zsum_Rsum u l : IZR (zsum l) * bp u = Rsum (map (fun n => IZR n * bp u) l).
Proof. induction l; simpl. lra. rewrite plus_IZR, Rmult_plus_distr_r, IHl. reflexivity. Qed.

Lemma counts_ok d ts : let u := unit_of d ts in
  IZR (zsum (counts d ts)) * bp u = Rsum (map (fun x => fix_rnd (alignment d) u (V x)) ts).
Proof.
  intros u. rewrite zsum_Rsum. unfold counts. rewrite map_map. f_equal. apply map_ext. intros x. apply cut_ok.
Qed.

(** ** The conversion = Flocq's rounding to FLT *)

Definition flt c := FLT_exp (emin c - p c) (p c + 1).
Definition flt_rnd c := round radix2 (flt c) (rnd (rho c)).

Lemma log2_mag n u : (n <> 0)%Z -> (mag radix2 (IZR n * bp u) : Z) = (Z.log2 (Z.abs n) + u + 1)%Z.
Proof.
  intros Hn. apply mag_unique. rewrite Rabs_mult, <- abs_IZR, (Rabs_pos_eq (bp u)) by apply bpow_ge_0.
  destruct (Z.log2_spec (Z.abs n)) as [H1 H2]; [lia|].
  assert (0 <= Z.log2 (Z.abs n))%Z by apply Z.log2_nonneg.
  replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z by lia.
  replace (Z.log2 (Z.abs n) + u + 1)%Z with (Z.succ (Z.log2 (Z.abs n)) + u)%Z by lia.
  rewrite 2!bpow_plus. split.
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le.
  - apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite bp_Z by lia. now apply IZR_lt.
Qed.

Lemma last_bit_ok c n u : (n <> 0)%Z -> last_bit c n u = cexp radix2 (flt c) (IZR n * bp u).
Proof.
  intros Hn. unfold last_bit, cexp, flt, FLT_exp. destruct (Z.eqb_spec n 0); [easy|].
  rewrite log2_mag by easy. lia.
Qed.

Lemma round_ok c n u : let ex := last_bit c n u in
  IZR (round_div (rho c) n (ex - u)) * bp ex = flt_rnd c (IZR n * bp u).
Proof.
  intros ex. destruct (Z.eq_dec n 0) as [->|Hn].
  - unfold flt_rnd. rewrite Rmult_0_l, round_0 by auto with typeclass_instances.
    rewrite round_div_ok, Rmult_0_l. now rewrite Zrnd_IZR, Rmult_0_l by auto with typeclass_instances.
  - unfold flt_rnd, round, F2R, scaled_mantissa; simpl. unfold ex. rewrite <- last_bit_ok by easy.
    rewrite round_div_ok. do 3 f_equal. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Open Scope Z_scope.

(** ** (e) The order of the terms of one sum is irrelevant *)

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

Theorem sum_numbers_perm d ts ts' : Permutation ts ts' -> sum_numbers d ts = sum_numbers d ts'.
Proof.
  intros P. unfold sum_numbers. rewrite (total_perm d _ _ P), (unit_of_perm d _ _ P).
  f_equal. apply sign_of_perm; auto using counts_perm.
Qed.

Theorem product_order d vs vs' : Permutation vs vs' -> sum_values d vs = sum_values d vs'.
Proof.
  intros P. unfold sum_values, numbers. rewrite (forallb_perm _ _ _ P).
  destruct (forallb is_num vs').
  - apply sum_numbers_perm. now apply Permutation_map.
  - unfold special_sum. now rewrite !(existsb_perm _ _ _ P).
Qed.

Theorem chain_product_order d bs bs' c :
  Forall2 (@Permutation val) bs bs' -> chain d bs c = chain d bs' c.
Proof.
  intros F. revert c. induction F as [|b b' r r' P F IH]; simpl; intros c; auto.
  unfold chain in *; simpl. rewrite (product_order d (b ++ [c]) (b' ++ [c])); auto.
  now apply Permutation_app_tail.
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

(** ** (d) The exponent of zero terms is irrelevant below those of all others *)

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

(** ** (j) Products of zero that are added change nothing *)

Lemma zsum_app a b : zsum (a ++ b) = zsum a + zsum b.
Proof. unfold zsum. induction a; simpl; lia. Qed.

Lemma largest_app d a b : largest d (a ++ b) = omax (largest d a) (largest d b).
Proof. unfold largest. induction a; simpl; auto. now rewrite IHa, omax_assoc. Qed.

Lemma zeros_count m u ts : forallb is_zero ts = true -> map (cut m u) ts = map (fun _ => 0) ts.
Proof. intros H. apply map_ext_in. intros x Hx. apply cut_zero. rewrite forallb_forall in H. auto. Qed.

Lemma zsum_zeros {A} (l : list A) : zsum (map (fun _ => 0) l) = 0.
Proof. unfold zsum. induction l; simpl; auto. Qed.

(** [zs] are positive zeros among the products; under ZeroAt the exponent of zeros has to lie below some other's,
    or that of zeros is taken anyhow.  The sign of a sum of zeros is +0 for those units. *)
Definition idle_zeros (d : sum) (zs ts : list num) : Prop :=
  ole (largest d zs) (largest d ts) /\ fraction_bits d <> None.

Theorem zero_products d zs ts :
  forallb is_zero zs = true -> idle_zeros d zs ts -> zsign (out d) = Positive \/ total d ts <> 0 ->
  sum_numbers d (zs ++ ts) = sum_numbers d ts.
Proof.
  intros Hz [Hl Hf] Hs.
  assert (U : unit_of d (zs ++ ts) = unit_of d ts).
  { unfold unit_of. destruct (fraction_bits d); [|easy]. now rewrite largest_app, omax_absorb. }
  assert (T : total d (zs ++ ts) = total d ts).
  { unfold total, counts. rewrite U, map_app, zsum_app, zeros_count, zsum_zeros by easy. reflexivity. }
  unfold sum_numbers. rewrite U, T. destruct Hs as [Hs|Hs].
  - unfold convert. rewrite Hs. reflexivity.
  - unfold sign_of. destruct (total d ts =? 0) eqn:E; [lia|reflexivity].
Qed.

Close Scope Z_scope.

(** ** A conversion depends on the real number alone *)

Lemma scaled_zero n n' u u' : IZR n * bp u = IZR n' * bp u' -> (n =? 0)%Z = (n' =? 0)%Z.
Proof.
  intros H. pose proof (bpow_gt_0 radix2 u). pose proof (bpow_gt_0 radix2 u').
  destruct (Z.eqb_spec n 0), (Z.eqb_spec n' 0); auto; subst; exfalso.
  - rewrite Rmult_0_l in H. apply n0. apply eq_IZR. nra.
  - rewrite Rmult_0_l in H. apply n0. apply eq_IZR. nra.
Qed.

Lemma scaled_neg n n' u u' : IZR n * bp u = IZR n' * bp u' -> (n <? 0)%Z = (n' <? 0)%Z.
Proof.
  intros H. pose proof (bpow_gt_0 radix2 u). pose proof (bpow_gt_0 radix2 u').
  destruct (Z.ltb_spec n 0) as [h|h], (Z.ltb_spec n' 0) as [h'|h']; auto; exfalso.
  - apply IZR_lt in h. apply IZR_le in h'. nra.
  - apply IZR_le in h. apply IZR_lt in h'. nra.
Qed.

Lemma scaled_pos n n' u u' : IZR n * bp u = IZR n' * bp u' -> (0 <? n)%Z = (0 <? n')%Z.
Proof.
  intros H. pose proof (bpow_gt_0 radix2 u). pose proof (bpow_gt_0 radix2 u').
  destruct (Z.ltb_spec 0 n) as [h|h], (Z.ltb_spec 0 n') as [h'|h']; auto; exfalso.
  - apply IZR_lt in h. apply IZR_le in h'. nra.
  - apply IZR_le in h. apply IZR_lt in h'. nra.
Qed.

Lemma is_tiny_ext c n n' u u' : n <> 0%Z -> n' <> 0%Z -> IZR n * bp u = IZR n' * bp u' -> is_tiny c n u = is_tiny c n' u'.
Proof.
  intros N N' H. unfold is_tiny.
  assert (E : (Z.log2 (Z.abs n) + u - p c = Z.log2 (Z.abs n') + u' - p c)%Z).
  { pose proof (log2_mag n u N) as L. rewrite H, log2_mag in L by easy. lia. }
  rewrite <- E. set (ex := (Z.log2 (Z.abs n) + u - p c)%Z).
  replace (round_div (rho c) n' (ex - u')) with (round_div (rho c) n (ex - u)); auto.
  rewrite !round_div_ok. f_equal.
  replace (- (ex - u))%Z with (u + - ex)%Z by lia. replace (- (ex - u'))%Z with (u' + - ex)%Z by lia.
  rewrite !bpow_plus, <- !Rmult_assoc. now rewrite H.
Qed.

Lemma convert_ext c s s' n n' u u' :
  IZR n * bp u = IZR n' * bp u' -> s = s' -> convert c s n u = convert c s' n' u'.
Proof.
  intros H <-. pose proof (scaled_zero _ _ _ _ H) as H0.
  assert (E : last_bit c n u = last_bit c n' u').
  { destruct (Z.eqb_spec n 0) as [->|N].
    - symmetry in H0. apply Z.eqb_eq in H0. now subst.
    - symmetry in H0. apply Z.eqb_neq in H0. now rewrite !last_bit_ok, H by easy. }
  assert (D : round_div (rho c) n (last_bit c n u - u) = round_div (rho c) n' (last_bit c n' u' - u')).
  { rewrite !round_div_ok, E. f_equal.
    replace (- (last_bit c n' u' - u))%Z with (u + - last_bit c n' u')%Z by lia.
    replace (- (last_bit c n' u' - u'))%Z with (u' + - last_bit c n' u')%Z by lia.
    rewrite !bpow_plus, <- !Rmult_assoc. now rewrite H. }
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Z.eqb_refl in H0. symmetry in H0. apply Z.eqb_eq in H0. subst. apply convert_zero. }
  assert (N' : n' <> 0%Z) by (intros ->; rewrite Z.eqb_refl in H0; now apply Z.eqb_eq in H0).
  unfold convert. rewrite <- D, <- E, <- H0, (is_tiny_ext c n n' u u') by easy.
  now rewrite (scaled_neg _ _ _ _ H), (scaled_pos _ _ _ _ H).
Qed.

(** ** (h) Where nothing is cut off, the sum is exact, and designs with the same conversion agree *)

Definition exact_sum (ts : list num) : R := Rsum (map V ts).

Definition lossless (u : Z) (ts : list num) : Prop := Forall (fun x => is_zero x = false -> (u <= lsb x)%Z) ts.

Lemma V_zero x : is_zero x = true -> V x = 0.
Proof. unfold is_zero, V. intros H. apply Z.eqb_eq in H. rewrite signed_0 by easy. lra. Qed.

Lemma fix_rnd_exact m u x : (is_zero x = false -> (u <= lsb x)%Z) -> fix_rnd m u (V x) = V x.
Proof.
  intros H. unfold fix_rnd. destruct (is_zero x) eqn:Z.
  - rewrite V_zero by easy. apply round_0. auto with typeclass_instances.
  - apply round_generic; auto with typeclass_instances. apply generic_format_FIX.
    exists (Float radix2 (signed x * 2 ^ (lsb x - u)) u); [|reflexivity].
    unfold F2R, V; simpl. rewrite mult_IZR, <- bp_Z by (specialize (H eq_refl); lia).
    rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma Rsum_ext {A} (f g : A -> R) l : (forall x, In x l -> f x = g x) -> Rsum (map f l) = Rsum (map g l).
Proof. intros H. f_equal. now apply map_ext_in. Qed.

Lemma lossless_total d ts : lossless (unit_of d ts) ts ->
  IZR (zsum (counts d ts)) * bp (unit_of d ts) = exact_sum ts.
Proof.
  intros H. rewrite counts_ok. apply Rsum_ext. intros x Hx. apply fix_rnd_exact.
  unfold lossless in H. rewrite Forall_forall in H. auto.
Qed.

(** The register does not wrap on these terms. *)
Definition exact_total (d : sum) (ts : list num) : Prop := total d ts = zsum (counts d ts).

Lemma no_carry_exact d ts : carry_bits d = None -> exact_total d ts.
Proof. unfold exact_total, total. now intros ->. Qed.

Lemma lossless_counts_zero d ts : lossless (unit_of d ts) ts ->
  forallb (Z.eqb 0) (counts d ts) = forallb is_zero ts.
Proof.
  unfold counts, lossless. generalize (unit_of d ts) as u. intros u H. induction H as [|x l Hx H IH]; simpl; auto.
  rewrite IH. f_equal. destruct (is_zero x) eqn:Hz.
  - now rewrite cut_zero.
  - assert (N : cut (alignment d) u x <> 0%Z); [|now destruct (cut (alignment d) u x)].
    intros E. pose proof (cut_ok (alignment d) u x) as C. rewrite E in C.
    rewrite fix_rnd_exact in C by auto. unfold V in C. pose proof (bpow_gt_0 radix2 (lsb x)).
    assert (N : signed x <> 0%Z). { unfold is_zero in Hz. apply Z.eqb_neq in Hz. unfold signed. destruct (neg x); lia. }
    apply N. apply eq_IZR. nra.
Qed.

Theorem agreement d d' ts :
  out d = out d' -> lossless (unit_of d ts) ts -> lossless (unit_of d' ts) ts -> exact_total d ts -> exact_total d' ts ->
  sum_numbers d ts = sum_numbers d' ts.
Proof.
  intros Ho L L' T T'. unfold sum_numbers. rewrite Ho, T, T'.
  assert (E : IZR (zsum (counts d ts)) * bp (unit_of d ts) = IZR (zsum (counts d' ts)) * bp (unit_of d' ts)).
  { now rewrite !lossless_total. }
  apply convert_ext; auto. unfold sign_of.
  now rewrite (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E), !lossless_counts_zero by easy.
Qed.

(** The spread: exponents of terms other than zero lie in [E - s, E], and zeros do not count for more. *)
Definition within_spread (d : sum) (s : Z) (ts : list num) : Prop :=
  exists E, ole (largest d ts) (Some E) /\ forall x, In x ts -> is_zero x = false -> (E - s <= exp x)%Z.

(** The side condition: with significands of at most [w] fraction bits, [F >= s + w]. *)
Definition spread_ok (d : sum) (s w : Z) : bool :=
  match fraction_bits d with None => true | Some f => (s + w <=? f)%Z end.

Lemma spread_lossless d s w ts :
  spread_ok d s w = true -> within_spread d s ts -> Forall (fun x => is_zero x = false -> (frac x <= w)%Z) ts ->
  lossless (unit_of d ts) ts.
Proof.
  intros O [E [HE HS]] W. unfold lossless. rewrite Forall_forall in *. intros x Hx Zx.
  unfold unit_of, spread_ok in *. specialize (W x Hx Zx). specialize (HS x Hx Zx). destruct (fraction_bits d) as [f|].
  - apply Z.leb_le in O. destruct (largest d ts) as [e|] eqn:L; simpl in HE.
    + unfold lsb. lia.
    + pose proof (largest_in d ts x Hx) as Q. rewrite L in Q. unfold term_exponent in Q. now rewrite Zx in Q.
  - now apply least_lsb_le.
Qed.

Theorem region d d' s w ts :
  out d = out d' -> carry_bits d = None -> carry_bits d' = None -> spread_ok d s w = true -> spread_ok d' s w = true ->
  within_spread d s ts -> within_spread d' s ts -> Forall (fun x => is_zero x = false -> (frac x <= w)%Z) ts ->
  sum_numbers d ts = sum_numbers d' ts.
Proof.
  intros. apply agreement; auto using no_carry_exact.
  - now apply spread_lossless with s w.
  - now apply spread_lossless with s w.
Qed.

(** ** (a) What a term, and a sum of terms, loses *)

Lemma fix_rnd_err m u x : Rabs (fix_rnd m u x - x) < bp u.
Proof.
  destruct (Req_dec x 0) as [->|H].
  - unfold fix_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. apply bpow_gt_0.
  - rewrite <- (ulp_FIX radix2 u x). apply error_lt_ulp; auto with typeclass_instances.
Qed.

Theorem truncated_term u x : 0 <= Rabs x - Rabs (fix_rnd RZ u x) < bp u.
Proof.
  pose proof (fix_rnd_err RZ u x) as E. unfold fix_rnd in *; simpl rnd in *.
  destruct (Rle_or_lt 0 x) as [H|H].
  - assert (0 <= round radix2 (FIX_exp u) Ztrunc x <= x).
    { split. apply round_ge_generic; auto with typeclass_instances. apply generic_format_0.
      rewrite round_ZR_DN by easy. apply round_DN_pt; auto with typeclass_instances. }
    rewrite !Rabs_pos_eq by lra. rewrite Rabs_left1 in E; lra.
  - assert (x <= round radix2 (FIX_exp u) Ztrunc x <= 0).
    { split. rewrite round_ZR_UP by lra. apply round_UP_pt; auto with typeclass_instances.
      apply round_le_generic; auto with typeclass_instances. apply generic_format_0. lra. }
    rewrite !Rabs_left1 by lra. rewrite Rabs_pos_eq in E; lra.
Qed.

(** Terms that can lose bits at a unit of [2^u]. *)
Definition lossy (u : Z) (ts : list num) : Z := Z.of_nat (length (filter (fun x => negb (is_zero x) && (lsb x <? u)%Z) ts)).

Lemma lossy_le u ts : (0 <= lossy u ts <= Z.of_nat (length ts))%Z.
Proof. unfold lossy. split; [lia|]. apply inj_le. induction ts; simpl; auto. destruct (_ && _); simpl; lia. Qed.

Lemma cut_sum_err m u ts :
  Rabs (Rsum (map (fun x => fix_rnd m u (V x)) ts) - exact_sum ts) <= IZR (lossy u ts) * bp u.
Proof.
  unfold exact_sum, lossy. induction ts as [|x ts IH]; simpl.
  - rewrite Rminus_0_r, Rabs_R0, Rmult_0_l. lra.
  - replace (_ + _ - _) with ((fix_rnd m u (V x) - V x) + (Rsum (map (fun x => fix_rnd m u (V x)) ts) - Rsum (map V ts))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. destruct (negb (is_zero x) && (lsb x <? u)%Z) eqn:B; simpl length.
    + rewrite Nat2Z.inj_succ, succ_IZR, Rmult_plus_distr_r, Rmult_1_l.
      pose proof (fix_rnd_err m u (V x)). lra.
    + rewrite (fix_rnd_exact m u x). { rewrite Rminus_eq_0, Rabs_R0. lra. }
      intros Z. rewrite Z in B. simpl in B. lia.
Qed.

(** ** The number that a conversion gives *)

(** Overflow is an infinity, and subnormals are kept: what the theorems about errors ask of a conversion. *)
Definition plain (c : conversion) : bool :=
  negb (flushes c) && (negb (saturates c) || match rho c with RNE | RNA => true | _ => false end) && (0 <=? p c)%Z.

Lemma plain_flushes c : plain c = true -> flushes c = false.
Proof. unfold plain. destruct (flushes c); simpl; easy. Qed.

Lemma plain_p c : plain c = true -> (0 <= p c)%Z.
Proof. unfold plain. intros H. apply andb_prop in H. lia. Qed.

Global Instance flt_valid c : (0 <= p c)%Z -> Valid_exp (flt c).
Proof. intros H. apply FLT_exp_valid. unfold Prec_gt_0. lia. Qed.

Theorem convert_num c s n u z : plain c = true -> convert c s n u = Num z -> V z = flt_rnd c (IZR n * bp u).
Proof.
  intros P H. rewrite <- round_ok. pose proof (plain_flushes _ P) as F. unfold convert in H. rewrite F in H.
  simpl in H. rewrite orb_false_r in H. set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct (Z.eqb_spec r 0) as [R0|R].
  - injection H as <-. rewrite R0. unfold V, signed; simpl. destruct (_ && s); simpl; lra.
  - destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
    + exfalso. unfold plain in P. rewrite F in P. simpl in P. apply andb_prop in P. destruct P as [P _].
      destruct (saturates c); simpl in *; [|easy]. destruct (rho c); easy.
    + injection H as <-. unfold V, signed, lsb; simpl.
      replace (if (r <? 0)%Z then (- Z.abs r)%Z else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia).
      do 2 f_equal. lia.
Qed.

(** ** (a) The error of one sum *)

Definition Rulp c x := ulp radix2 (flt c) x.

Lemma flt_err c x : (0 <= p c)%Z -> Rabs (flt_rnd c x - x) < Rulp c (flt_rnd c x).
Proof.
  intros P. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd, Rulp, flt.
  destruct (Req_dec x 0) as [->|H0].
  - rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances.
    rewrite ulp_FLT_small; auto with typeclass_instances. apply bpow_gt_0. rewrite Rabs_R0. apply bpow_gt_0.
  - apply error_lt_ulp_round; auto with typeclass_instances.
Qed.

Theorem block_error_lossy d ts z :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z ->
  Rabs (V z - exact_sum ts) < IZR (lossy (unit_of d ts) ts) * bp (unit_of d ts) + Rulp (out d) (V z).
Proof.
  intros P T H. unfold sum_numbers in H. rewrite T in H. pose proof (convert_num _ _ _ _ _ P H) as C.
  rewrite counts_ok in C. pose proof (cut_sum_err (alignment d) (unit_of d ts) ts) as E.
  set (S := Rsum _) in *. replace (V z - exact_sum ts) with ((V z - S) + (S - exact_sum ts)) by ring.
  eapply Rle_lt_trans; [apply Rabs_triang|]. rewrite Rplus_comm. apply Rplus_le_lt_compat; auto.
  rewrite C. apply flt_err. now apply plain_p.
Qed.

(** With E an exponent that no term's exceeds, and L terms: |d - sum| < L * 2^(E-F) + ulp(d). *)
Lemma largest_none d ts x : largest d ts = None -> In x ts -> is_zero x = true.
Proof.
  intros Q Hx. pose proof (largest_in d ts x Hx) as I. rewrite Q in I. unfold term_exponent in I.
  destruct (is_zero x); easy.
Qed.

Lemma lossy_bound d ts f E :
  fraction_bits d = Some f -> ole (largest d ts) (Some E) ->
  IZR (lossy (unit_of d ts) ts) * bp (unit_of d ts) <= IZR (Z.of_nat (length ts)) * bp (E - f).
Proof.
  intros F L. unfold unit_of. rewrite F. pose proof (lossy_le 0 ts) as B0.
  destruct (largest d ts) as [e|] eqn:Q; simpl in L; cbv beta iota.
  - pose proof (lossy_le (e - f) ts) as B.
    apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. lia.
  - assert (A : forall l, (forall x, In x l -> is_zero x = true) -> lossy 0 l = 0%Z).
    { unfold lossy. induction l as [|a l IH]; simpl; intros Hl; auto. rewrite Hl by auto. simpl. apply IH. auto. }
    rewrite A by (intros x; now apply (largest_none d)). rewrite Rmult_0_l.
    apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0].
Qed.

Theorem block_error d ts z f E :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z -> fraction_bits d = Some f ->
  ole (largest d ts) (Some E) ->
  Rabs (V z - exact_sum ts) < IZR (Z.of_nat (length ts)) * bp (E - f) + Rulp (out d) (V z).
Proof.
  intros P T H F L. eapply Rlt_le_trans; [eapply block_error_lossy; eassumption|]. apply Rplus_le_compat_r.
  eapply lossy_bound; eassumption.
Qed.

(** ** (c) Carry bits *)

Lemma wrap_small w n : (0 < w)%Z -> (- 2 ^ (w - 1) <= n < 2 ^ (w - 1))%Z -> wrap w n = n.
Proof.
  intros W H. unfold wrap. rewrite Z.mod_small; [lia|]. replace (2 ^ w)%Z with (2 * 2 ^ (w - 1))%Z; [lia|].
  rewrite <- Z.pow_succ_r by lia. f_equal. lia.
Qed.

Lemma wrap_range w n : (0 < w)%Z -> (- 2 ^ (w - 1) <= wrap w n < 2 ^ (w - 1))%Z.
Proof.
  intros W. unfold wrap. assert (2 ^ w = 2 * 2 ^ (w - 1))%Z.
  { rewrite <- Z.pow_succ_r by lia. f_equal. lia. }
  assert (0 < 2 ^ w)%Z by (apply Z.pow_pos_nonneg; lia).
  pose proof (Z.mod_pos_bound (n + 2 ^ (w - 1)) (2 ^ w)). lia.
Qed.

Lemma round_div_le m x y k k' : IZR x * bp (- k) <= IZR y * bp (- k') -> (round_div m x k <= round_div m y k')%Z.
Proof. intros H. rewrite !round_div_ok. now apply Zrnd_le; auto with typeclass_instances. Qed.

Lemma round_div_RZ_opp x k : round_div RZ (- x) k = (- round_div RZ x k)%Z.
Proof. rewrite !round_div_ok, opp_IZR, Ropp_mult_distr_l_reverse. apply Ztrunc_opp. Qed.

(** What a class of terms can be: significands up to [M] with [fr] fraction bits; and its largest count. *)
Definition shape := (Z * Z)%type.
Definition fits (s : shape) (x : num) : Prop := (0 <= sig x <= fst s)%Z /\ frac x = snd s.
Definition top (f : Z) (s : shape) : Z := round_div RZ (fst s) (snd s - f).

Lemma count_le f e s x : fits s x -> (exp x <= e)%Z -> (Z.abs (cut RZ (e - f) x) <= top f s)%Z.
Proof.
  intros [[H0 H1] H2] He. unfold cut, top, lsb.
  assert (A : Z.abs (round_div RZ (signed x) (e - f - (exp x - frac x))) = round_div RZ (sig x) (e - f - (exp x - frac x))).
  { assert (0 <= round_div RZ (sig x) (e - f - (exp x - frac x)))%Z.
    { rewrite <- (round_div_0 RZ 0). apply round_div_le. rewrite Rmult_0_l. apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. }
    unfold signed. destruct (neg x); [rewrite round_div_RZ_opp|]; lia. }
  rewrite A. apply round_div_le. apply Rmult_le_compat; [now apply IZR_le|apply bpow_ge_0|now apply IZR_le|].
  apply bpow_le. lia.
Qed.

Lemma top_nonneg f s : (0 <= fst s)%Z -> (0 <= top f s)%Z.
Proof.
  intros H. unfold top. rewrite <- (round_div_0 RZ 0). apply round_div_le. rewrite Rmult_0_l.
  apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0].
Qed.

(** The side condition: as a number of the design and of the formats. *)
Definition carry_ok (f k : Z) (ss : list shape) : bool := (zsum (map (top f) ss) <? 2 ^ (f + 1 + k))%Z.

Theorem carry_suffices d f k ss ts :
  fraction_bits d = Some f -> carry_bits d = Some k -> alignment d = RZ -> normalise d = false -> (0 <= f)%Z -> (0 <= k)%Z ->
  carry_ok f k ss = true -> Forall2 fits ss ts -> exact_total d ts.
Proof.
  intros F K A N Hf Hk O T. unfold exact_total, total. rewrite F, K. apply wrap_small; [lia|].
  replace (1 + (f + 1 + k) - 1)%Z with (f + 1 + k)%Z by lia. unfold carry_ok in O. apply Z.ltb_lt in O.
  cut (Z.abs (zsum (counts d ts)) <= zsum (map (top f) ss))%Z; [lia|].
  unfold counts, unit_of. rewrite F, A. destruct (largest d ts) as [e|] eqn:L.
  - assert (B : Forall (fun x => is_zero x = true \/ (exp x <= e)%Z) ts).
    { apply Forall_forall. intros x Hx. pose proof (largest_in d ts x Hx) as I. rewrite L in I.
      unfold term_exponent in I. rewrite N in I. destruct (is_zero x); simpl in I; auto. }
    clear L O. induction T as [|s x ss ts Fx T IH]; simpl; [lia|]. inversion B; subst.
    specialize (IH H2). unfold zsum in *. simpl.
    assert (Z.abs (cut RZ (e - f) x) <= top f s)%Z; [|lia].
    destruct H1 as [H1|H1]; [|now apply count_le]. rewrite cut_zero by easy. apply top_nonneg. destruct Fx; lia.
  - rewrite zeros_count. rewrite zsum_zeros. simpl.
    + clear -T. induction T; simpl; [lia|]. unfold zsum in *; simpl. pose proof (top_nonneg f x).
      destruct H as [[? ?] ?]. lia.
    + apply forallb_forall. intros x Hx. now apply (largest_none d ts).
Qed.

(** And that is all: where the sum of the largest counts does not fit, terms of one exponent overflow the register. *)
Definition fullest (e : Z) (s : shape) : num := {| neg := false; sig := fst s; exp := e; frac := snd s |}.

Theorem carry_needed d f k e ss :
  fraction_bits d = Some f -> carry_bits d = Some k -> alignment d = RZ -> normalise d = false -> (0 <= f)%Z -> (0 <= k)%Z ->
  ss <> [] -> Forall (fun s => 0 < fst s)%Z ss -> carry_ok f k ss = false ->
  Forall2 fits ss (map (fullest e) ss) /\ ~ exact_total d (map (fullest e) ss).
Proof.
  intros F K A N Hf Hk NE P O. split.
  - clear -P. induction P; simpl; constructor; auto. unfold fits, fullest; simpl. lia.
  - assert (L : largest d (map (fullest e) ss) = Some e).
    { assert (T : map (term_exponent d) (map (fullest e) ss) = map (fun _ => Some e) ss).
      { rewrite map_map. apply map_ext_in. intros s Hs. rewrite Forall_forall in P. specialize (P s Hs).
        unfold term_exponent, is_zero, fullest. simpl. rewrite N. destruct (Z.eqb_spec (fst s) 0); [lia|auto]. }
      unfold largest. rewrite T. clear -NE. destruct ss as [|s r]; [easy|]. clear NE. revert s.
      induction r; intros s; simpl; auto. simpl in IHr. rewrite (IHr s). simpl. now rewrite Z.max_id. }
    assert (C : counts d (map (fullest e) ss) = map (top f) ss).
    { unfold counts, unit_of. rewrite F, A, L, map_map. apply map_ext. intros s. unfold cut, top, fullest, signed, lsb; simpl.
      f_equal. lia. }
    unfold exact_total, total. rewrite F, K, C. unfold carry_ok in O. apply Z.ltb_ge in O.
    pose proof (wrap_range (1 + (f + 1 + k)) (zsum (map (top f) ss))).
    replace (1 + (f + 1 + k) - 1)%Z with (f + 1 + k)%Z in H by lia. lia.
Qed.

(** Products of significands below 2 each lie below 4, c below 2: with n products, 2n + 1 <= 2^k is enough. *)
Definition product_shape (fa fb : format) : shape := ((2 ^ (fbits fa + 1) - 1) * (2 ^ (fbits fb + 1) - 1), fbits fa + fbits fb)%Z.
Definition number_shape (fr : Z) : shape := (2 ^ (fr + 1) - 1, fr)%Z.

(** ** (f) Negation *)

Definition symmetric (m : mode) : bool := match m with RD | RU => false | _ => true end.

Lemma rnd_opp m x : symmetric m = true -> rnd m (- x) = (- rnd m x)%Z.
Proof.
  destruct m; try easy; intros _; cbv beta iota delta [rnd].
  - rewrite Znearest_opp. f_equal. unfold Znearest. destruct (Rcompare _ _); auto.
    rewrite Z.even_opp, Z.even_add. now destruct (Z.even (Zfloor x)).
  - rewrite Znearest_opp. f_equal. unfold Znearest. destruct (Rcompare _ _); auto.
    set (n := Zfloor x). destruct (Z.leb_spec 0 (- (n + 1))), (Z.leb_spec 0 n); simpl; auto; lia.
  - apply Ztrunc_opp.
  - unfold Zrnd_odd. destruct (Req_EM_T x (IZR (Zfloor x))) as [H|H].
    + rewrite H, <- opp_IZR, !Zfloor_IZR. destruct (Req_EM_T _ _); [|easy]. reflexivity.
    + assert (F : Zfloor (- x) = (- (Zfloor x + 1))%Z).
      { rewrite <- Zceil_floor_neq by auto. unfold Zceil. lia. }
      assert (C : Zceil (- x) = (- Zfloor x)%Z) by (unfold Zceil; now rewrite Ropp_involutive).
      destruct (Req_EM_T (- x) _) as [H'|H'].
      * exfalso. apply H. rewrite F in H'. rewrite opp_IZR in H'. apply Ropp_eq_compat in H'. rewrite !Ropp_involutive in H'.
        rewrite H' at 2. now rewrite Zfloor_IZR.
      * rewrite F, C, (Zceil_floor_neq x) by auto. rewrite Z.even_opp, Z.even_add. simpl.
        destruct (Z.even (Zfloor x)); simpl; lia.
Qed.

Lemma round_div_opp m x k : symmetric m = true -> round_div m (- x) k = (- round_div m x k)%Z.
Proof. intros H. rewrite !round_div_ok, opp_IZR, Ropp_mult_distr_l_reverse. now apply rnd_opp. Qed.

(** Of opposite values, whatever the signs of zeros. *)
Definition opposite (x y : num) : Prop := signed y = (- signed x)%Z /\ exp y = exp x /\ frac y = frac x.

Definition opposite_val (v w : val) : Prop :=
  match v, w with Num x, Num y => opposite x y | Inf s, Inf t => t = negb s | NaN, NaN => True | _, _ => False end.

Lemma opposite_zero x y : opposite x y -> is_zero y = is_zero x.
Proof.
  intros [H _]. unfold is_zero, signed in *. destruct (neg x), (neg y), (Z.eqb_spec (sig x) 0), (Z.eqb_spec (sig y) 0); auto; lia.
Qed.

Lemma opposite_abs x y : opposite x y -> Z.abs (sig y) = Z.abs (sig x).
Proof. intros [H _]. unfold signed in *. destruct (neg x), (neg y); lia. Qed.

Lemma opposite_exponent d x y : opposite x y -> term_exponent d y = term_exponent d x.
Proof.
  intros H. unfold term_exponent. rewrite (opposite_zero _ _ H). unfold own_exponent, lsb.
  rewrite (opposite_abs _ _ H). destruct H as [_ [-> ->]]. reflexivity.
Qed.

Lemma opposite_unit d ts us : Forall2 opposite ts us -> unit_of d us = unit_of d ts.
Proof.
  intros H. unfold unit_of, largest. replace (map (term_exponent d) us) with (map (term_exponent d) ts).
  replace (least_lsb us) with (least_lsb ts); auto.
  - unfold least_lsb. destruct H as [|x y ts us Hx H]; auto. unfold lsb at 1 3. destruct Hx as [_ [-> ->]]. f_equal.
    induction H as [|x' y' ts us [_ [E1 E2]] H IH]; simpl; auto. unfold lsb at 1 3. now rewrite E1, E2, IH.
  - induction H; simpl; auto. now rewrite IHForall2, (opposite_exponent d _ _ H).
Qed.

Lemma opposite_counts d ts us : symmetric (alignment d) = true -> Forall2 opposite ts us ->
  counts d us = map Z.opp (counts d ts).
Proof.
  intros S H. unfold counts. rewrite (opposite_unit d _ _ H). generalize (unit_of d ts) as u. intros u.
  induction H as [|x y ts us [E1 [E2 E3]] H IH]; simpl; auto. rewrite IH. f_equal.
  unfold cut, lsb. rewrite E1, E2, E3. now apply round_div_opp.
Qed.

Lemma zsum_opp l : zsum (map Z.opp l) = (- zsum l)%Z.
Proof. unfold zsum. induction l; simpl; lia. Qed.

Lemma is_tiny_opp c n u : symmetric (rho c) = true -> is_tiny c (- n) u = is_tiny c n u.
Proof. intros S. unfold is_tiny. now rewrite Z.abs_opp, round_div_opp, Z.abs_opp by easy. Qed.

Lemma convert_opp c s s' n u : symmetric (rho c) = true -> opposite_val (convert c s n u) (convert c s' (- n) u).
Proof.
  intros S. unfold convert. replace (last_bit c (- n) u) with (last_bit c n u).
  2: { unfold last_bit. rewrite Z.abs_opp. destruct (Z.eqb_spec n 0), (Z.eqb_spec (- n) 0); auto; lia. }
  rewrite round_div_opp, is_tiny_opp by easy. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)).
  rewrite Z.abs_opp. replace (- r =? 0)%Z with (r =? 0)%Z by (destruct (Z.eqb_spec r 0), (Z.eqb_spec (- r) 0); auto; lia).
  destruct ((r =? 0)%Z || _) eqn:Z0.
  - unfold opposite_val, opposite, signed; simpl. destruct (_ && s), (_ && s'); auto.
  - destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)).
    + assert (N : n <> 0%Z).
      { intros ->. unfold r in Z0. rewrite round_div_0 in Z0. easy. }
      assert (G : ((- n <? 0) = negb (n <? 0))%Z) by (destruct (Z.ltb_spec n 0), (Z.ltb_spec (- n) 0); auto; lia).
      destruct (rho c) eqn:M; try easy; destruct (saturates c); simpl; auto;
        unfold opposite, signed; simpl; rewrite G; destruct (n <? 0)%Z; simpl; auto with zarith.
    + assert (r <> 0%Z) by (intros E; rewrite E in Z0; easy).
      unfold opposite_val, opposite, signed; simpl.
      destruct (Z.ltb_spec r 0), (Z.ltb_spec (- r) 0); split; auto; lia.
Qed.

Theorem negation d ts us :
  symmetric (alignment d) = true -> symmetric (rho (out d)) = true -> exact_total d ts -> exact_total d us ->
  Forall2 opposite ts us -> opposite_val (sum_numbers d ts) (sum_numbers d us).
Proof.
  intros Sa Sr T U H. unfold sum_numbers. rewrite T, U, (opposite_unit d _ _ H), (opposite_counts d _ _ Sa H), zsum_opp.
  now apply convert_opp.
Qed.

(** ** (b) Chains of blocks *)

(** The result of every block; [None] where one is no number. *)
Fixpoint run (d : sum) (bs : list (list num)) (c : num) : option (list num) :=
  match bs with
  | [] => Some []
  | b :: r => match sum_numbers d (b ++ [c]) with Num z => option_map (cons z) (run d r z) | _ => None end
  end.

Lemma numbers_map ts : numbers (map Num ts) = Some ts.
Proof.
  unfold numbers. replace (forallb is_num (map Num ts)) with true by (induction ts; simpl; auto).
  f_equal. rewrite map_map. simpl. apply map_id.
Qed.

Lemma sum_values_num d ts : sum_values d (map Num ts) = sum_numbers d ts.
Proof. unfold sum_values. now rewrite numbers_map. Qed.

Lemma special_not_num vs z : special_sum vs <> Num z.
Proof.
  unfold special_sum. intros H.
  repeat match type of H with context [existsb ?q ?l] => destruct (existsb q l) end; easy.
Qed.

Lemma sum_values_inv d vs z : sum_values d vs = Num z -> exists ts, vs = map Num ts.
Proof.
  unfold sum_values, numbers. destruct (forallb is_num vs) eqn:B; intros H.
  - exists (map num_of vs). rewrite map_map. rewrite forallb_forall in B. clear H.
    induction vs as [|v r IH]; simpl; auto. rewrite <- IH by (intros; apply B; now right).
    specialize (B v (or_introl eq_refl)). now destruct v.
  - exfalso. eapply special_not_num; eauto.
Qed.

Lemma chain_not_num d bs v z : chain d bs v = Num z -> exists x, v = Num x.
Proof.
  unfold chain. revert v. induction bs as [|b r IH]; simpl; intros v H; [eauto|].
  destruct (IH _ H) as [y Hy]. apply sum_values_inv in Hy. destruct Hy as [ts E].
  destruct (exists_last (l := ts)) as [ts' [x Ex]].
  { intros ->. apply app_eq_nil in E. destruct E; easy. }
  subst ts. rewrite map_app in E. simpl in E. apply app_inj_tail in E. destruct E as [_ ->]. eauto.
Qed.

Lemma last_cons {A} (zs : list A) : forall y c, last (y :: zs) c = last zs y.
Proof.
  induction zs as [|a l IH]; intros y c; auto. change (last (a :: l) c = last (a :: l) y). now rewrite !IH.
Qed.

Theorem chain_run d bs c z :
  chain d (map (map Num) bs) (Num c) = Num z -> exists zs, run d bs c = Some zs /\ last zs c = z.
Proof.
  revert c. induction bs as [|b r IH]; simpl; intros c H.
  - injection H as <-. exists []. auto.
  - unfold chain in H; simpl in H. change [Num c] with (map Num [c]) in H. rewrite <- map_app in H.
    rewrite sum_values_num in H. destruct (chain_not_num d _ _ _ H) as [y Hy]. rewrite Hy in *.
    destruct (IH y H) as [zs [E L]]. exists (y :: zs). rewrite E. split; auto.
    now rewrite last_cons.
Qed.

(** The units of the blocks, their lossy terms, and what is lost in all. *)
Fixpoint lost (d : sum) (bs : list (list num)) (c : num) (zs : list num) : R :=
  match bs, zs with
  | b :: r, z :: zs' =>
      let ts := b ++ [c] in
      IZR (lossy (unit_of d ts) ts) * bp (unit_of d ts) + Rulp (out d) (V z) + lost d r z zs'
  | _, _ => 0
  end.

Fixpoint all_exact (d : sum) (bs : list (list num)) (c : num) (zs : list num) : Prop :=
  match bs, zs with b :: r, z :: zs' => exact_total d (b ++ [c]) /\ all_exact d r z zs' | _, _ => True end.

Lemma exact_sum_app a b : exact_sum (a ++ b) = exact_sum a + exact_sum b.
Proof. unfold exact_sum. now rewrite map_app, Rsum_app. Qed.

Theorem chain_error d bs : plain (out d) = true -> forall c zs, run d bs c = Some zs -> all_exact d bs c zs ->
  Rabs (V (last zs c) - (V c + Rsum (map exact_sum bs))) <= lost d bs c zs.
Proof.
  intros P. induction bs as [|b r IH]; simpl; intros c zs H A.
  - injection H as <-. simpl. replace (V c - (V c + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - destruct (sum_numbers d (b ++ [c])) as [z| |] eqn:S; try easy.
    destruct (run d r z) as [zs'|] eqn:Q; try easy. simpl in H. injection H as <-. destruct A as [A1 A2].
    specialize (IH z zs' Q A2). pose proof (block_error_lossy d _ _ P A1 S) as B.
    rewrite exact_sum_app in B. unfold exact_sum at 2 in B. simpl in B.
    rewrite last_cons.
    set (T := Rsum (map exact_sum r)) in *.
    replace (V (last zs' z) - (V c + (exact_sum b + T))) with
      ((V z - (exact_sum b + (V c + 0))) + (V (last zs' z) - (V z + T))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** With E above the exponents of all terms of all blocks, the results' included. *)
Fixpoint below (d : sum) (E : Z) (bs : list (list num)) (c : num) (zs : list num) : Prop :=
  match bs, zs with b :: r, z :: zs' => ole (largest d (b ++ [c])) (Some E) /\ below d E r z zs' | _, _ => True end.

Fixpoint stated (d : sum) (E f : Z) (bs : list (list num)) (zs : list num) : R :=
  match bs, zs with
  | b :: r, z :: zs' => (IZR (Z.of_nat (length b)) + 1) * bp (E - f) + Rulp (out d) (V z) + stated d E f r zs'
  | _, _ => 0
  end.

Theorem chain_error_E d f E bs :
  plain (out d) = true -> fraction_bits d = Some f -> forall c zs, run d bs c = Some zs -> all_exact d bs c zs ->
  below d E bs c zs ->
  Rabs (V (last zs c) - (V c + Rsum (map exact_sum bs))) <= stated d E f bs zs.
Proof.
  intros P F c zs H A L. eapply Rle_trans; [apply (chain_error d bs P c zs H A)|]. clear A. revert c zs H L.
  induction bs as [|b r IH]; simpl; intros c zs H L; [lra|].
  destruct (sum_numbers d (b ++ [c])) as [z| |] eqn:S; try easy.
  destruct (run d r z) as [zs'|] eqn:Q; try easy. simpl in H. injection H as <-. destruct L as [L1 L2].
  specialize (IH z zs' Q L2). pose proof (lossy_bound d (b ++ [c]) f E F L1) as B.
  rewrite app_length in B. simpl length in B. rewrite Nat2Z.inj_add, plus_IZR in B. change (Z.of_nat 1) with 1%Z in B. lra.
Qed.

(** ** What a conversion gives, and when it gives a number *)

Lemma flt_rnd_bound c x e : (0 <= p c)%Z -> (emin c - p c <= e)%Z -> Rabs x <= bp e -> Rabs (flt_rnd c x) <= bp e.
Proof.
  intros P H X. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  apply abs_round_le_generic; auto with typeclass_instances.
  apply generic_format_FLT_bpow; auto.
Qed.

Lemma round_div_log2 c n u : let r := round_div (rho c) n (last_bit c n u - u) in (r <> 0)%Z ->
  bp (Z.log2 (Z.abs r) + last_bit c n u) <= Rabs (flt_rnd c (IZR n * bp u)) < bp (Z.log2 (Z.abs r) + last_bit c n u + 1).
Proof.
  intros r N. rewrite <- round_ok. cbv zeta. fold r. pose proof (log2_mag r (last_bit c n u) N) as M.
  set (y := IZR r * bp (last_bit c n u)) in *. set (e := (Z.log2 (Z.abs r) + last_bit c n u)%Z) in *.
  destruct (mag radix2 y) as [m Hm]. simpl in M. subst m. replace (e + 1 - 1)%Z with e in Hm by lia. apply Hm.
  unfold y. pose proof (bpow_gt_0 radix2 (last_bit c n u)). intros Q. apply N. apply eq_IZR. nra.
Qed.

Theorem convert_finite c s n u :
  plain c = true -> Rabs (flt_rnd c (IZR n * bp u)) < bp (emax c + 1) -> exists z, convert c s n u = Num z.
Proof.
  intros P B. pose proof (plain_flushes _ P) as F. unfold convert. rewrite F. simpl. rewrite orb_false_r.
  set (r := round_div _ _ _). destruct (Z.eqb_spec r 0) as [R|R]; [eauto|].
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + last_bit c n u)) as [O|O]; [|eauto].
  exfalso. destruct (round_div_log2 c n u R) as [H _]. fold r in H.
  assert (bp (emax c + 1) <= bp (Z.log2 (Z.abs r) + last_bit c n u)) by (apply bpow_le; lia). lra.
Qed.

(** A result other than zero has the exponent of its leading bit, or the least one. *)
Theorem convert_exponent c s n u z :
  plain c = true -> convert c s n u = Num z ->
  (emin c <= exp z)%Z /\ (is_zero z = false -> exp z = emin c \/ bp (exp z) <= Rabs (V z)).
Proof.
  intros P H. pose proof (convert_num _ _ _ _ _ P H) as C. pose proof (plain_flushes _ P) as F.
  unfold convert in H. rewrite F in H. simpl in H. rewrite orb_false_r in H.
  set (r := round_div _ _ _) in *. destruct (Z.eqb_spec r 0) as [R|R].
  - injection H as <-. simpl. split; [lia|]. easy.
  - destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + last_bit c n u)) as [O|O].
    + exfalso. unfold plain in P. rewrite F in P. simpl in P. apply andb_prop in P. destruct P as [P _].
      destruct (saturates c); simpl in *; [|easy]. destruct (rho c); easy.
    + destruct (round_div_log2 c n u R) as [B _]. fold r in B. rewrite <- C in B. injection H as <-.
      simpl exp in *. split; [lia|]. intros _.
      destruct (Z.max_spec (Z.log2 (Z.abs r) + last_bit c n u) (emin c)) as [[_ Q]|[_ Q]]; rewrite Q in *; auto.
Qed.

(** ** (g) Sums of integers *)

Definition integer (x : R) : Prop := exists k, x = IZR k.
Definition magnitude (ts : list num) : R := Rsum (map (fun x => Rabs (V x)) ts).

(** Zero, or with a leading bit that the exponent names. *)
Definition normal (x : num) : Prop := is_zero x = false -> bp (exp x) <= Rabs (V x).

Lemma Rsum_nonneg {A} (g : A -> R) l : (forall x, 0 <= g x) -> 0 <= Rsum (map g l).
Proof. intros H. induction l; simpl; [lra|]. specialize (H a). lra. Qed.

Lemma magnitude_in ts x : In x ts -> Rabs (V x) <= magnitude ts.
Proof.
  unfold magnitude. intros H. apply in_split in H. destruct H as [a [b ->]]. rewrite map_app, Rsum_app. simpl.
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) a (fun x => Rabs_pos _)).
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) b (fun x => Rabs_pos _)). lra.
Qed.

Lemma magnitude_two ts x y : In x ts -> In y ts -> x = y \/ Rabs (V x) + Rabs (V y) <= magnitude ts.
Proof.
  intros Hx Hy. apply in_split in Hx. destruct Hx as [a [b ->]]. unfold magnitude. rewrite map_app, Rsum_app. simpl.
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) a (fun x => Rabs_pos _)).
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) b (fun x => Rabs_pos _)).
  rewrite in_app_iff in Hy. destruct Hy as [Hy|[Hy|Hy]]; auto; right.
  - pose proof (magnitude_in a y Hy). unfold magnitude in *. lra.
  - pose proof (magnitude_in b y Hy). unfold magnitude in *. lra.
Qed.

Lemma exact_sum_abs ts : Rabs (exact_sum ts) <= magnitude ts.
Proof.
  unfold exact_sum, magnitude. induction ts; simpl. rewrite Rabs_R0; lra.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma integer_sum ts : Forall (fun x => integer (V x)) ts -> integer (exact_sum ts).
Proof.
  unfold exact_sum. induction 1 as [|x l [k Hk] H [m Hm]]; simpl. now exists 0%Z.
  exists (k + m)%Z. now rewrite plus_IZR, Hk, Hm.
Qed.

Lemma integer_fix u x : (u <= 0)%Z -> integer x -> generic_format radix2 (FIX_exp u) x.
Proof.
  intros U [k ->]. apply generic_format_FIX. exists (Float radix2 (k * 2 ^ (- u)) u); [|reflexivity].
  unfold F2R; simpl. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia.
  replace (- u + u)%Z with 0%Z by lia. simpl. ring.
Qed.

Lemma integer_flt c x : (0 <= p c)%Z -> (emin c <= p c)%Z -> integer x -> Rabs x <= bp (p c + 1) ->
  generic_format radix2 (flt c) x.
Proof.
  intros P M [k ->] H. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt.
  rewrite bp_Z, <- abs_IZR in H by lia. apply le_IZR in H.
  destruct (Z.eq_dec (Z.abs k) (2 ^ (p c + 1))) as [E|E].
  - assert (k = 2 ^ (p c + 1) \/ k = - 2 ^ (p c + 1))%Z as [->| ->] by lia.
    + rewrite <- bp_Z by lia. apply generic_format_FLT_bpow; auto. lia.
    + rewrite opp_IZR, <- bp_Z by lia. apply generic_format_opp. apply generic_format_FLT_bpow; auto. lia.
  - apply generic_format_FLT. exists (Float radix2 k 0); simpl; [|lia|lia].
    unfold F2R; simpl. ring.
Qed.

Lemma largest_attained d ts e : largest d ts = Some e -> exists x, In x ts /\ term_exponent d x = Some e.
Proof.
  unfold largest. revert e. induction ts as [|a ts IH]; simpl; intros e H; [easy|].
  destruct (term_exponent d a) as [ea|] eqn:Ea, (fold_right omax None (map (term_exponent d) ts)) as [er|] eqn:Er; simpl in H; try easy.
  - destruct (Z.max_spec ea er) as [[_ M]|[_ M]]; rewrite M in H.
    + destruct (IH er eq_refl) as [x [? ?]]. exists x. split; auto. congruence.
    + exists a. split; auto. congruence.
  - exists a. split; auto. congruence.
  - destruct (IH er eq_refl) as [x [? ?]]. exists x. split; auto. congruence.
Qed.

(** The side condition on a design. *)
Definition integers_ok (d : sum) (B : Z) : bool :=
  plain (out d) && negb (normalise d) && (0 <=? B)%Z && (B <=? p (out d) + 1)%Z && (emin (out d) <=? 0)%Z && (p (out d) <? emax (out d))%Z &&
  match carry_bits d with None => true | _ => false end &&
  match fraction_bits d with
  | None => true
  | Some f => (0 <=? f)%Z && (B <=? f + 1)%Z && match zero_exponent d with ZeroNone => true | ZeroOwn => false | ZeroAt z => (z <=? f)%Z end
  end.

Lemma integers_exact d B ts :
  integers_ok d B = true -> Forall (fun x => integer (V x)) ts -> Forall normal ts -> magnitude ts <= bp B ->
  IZR (zsum (counts d ts)) * bp (unit_of d ts) = exact_sum ts.
Proof.
  intros O I N M. unfold integers_ok in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[P Nn] B0] Bp] Em] Ex] K] O].
  rewrite counts_ok. apply Rsum_ext. intros x Hx. unfold unit_of in *. destruct (fraction_bits d) as [f|].
  2: { apply fix_rnd_exact. intros _. now apply least_lsb_le. }
  repeat rewrite andb_true_iff in O. destruct O as [[F0 Bf] Zr].
  assert (Ix : integer (V x)) by (rewrite Forall_forall in I; auto).
  destruct (largest d ts) as [e|] eqn:L; unfold fix_rnd.
  2: { apply round_generic; auto with typeclass_instances. apply integer_fix; auto. lia. }
  destruct (Z_le_gt_dec e f) as [Hef|Hef].
  { apply round_generic; auto with typeclass_instances. apply integer_fix; auto. lia. }
  destruct (largest_attained d ts e L) as [y [Hy Ey]].
  unfold term_exponent in Ey. apply negb_true_iff in Nn. rewrite Nn in Ey. destruct (is_zero y) eqn:Zy.
  { exfalso. destruct (zero_exponent d); try easy. injection Ey as <-. lia. }
  injection Ey as Ey. assert (Ny : bp e <= Rabs (V y)). { rewrite <- Ey. rewrite Forall_forall in N. now apply N. }
  pose proof (magnitude_in ts y Hy) as My.
  assert (E1 : (e <= f + 1)%Z). { apply Z.le_trans with B; [|lia]. apply (le_bpow radix2). lra. }
  assert (EB : e = B). { assert (e <= B)%Z by (apply (le_bpow radix2); lra). lia. }
  rewrite EB in Ny. clear Ey.
  assert (D : V x = 0 \/ Rabs (V x) = bp B).
  { destruct (magnitude_two ts x y Hx Hy) as [->|T]; [right; apply Rle_antisym; [eapply Rle_trans; eassumption|exact Ny]|]. left.
    assert (Rabs (V x) = 0) by (pose proof (Rabs_pos (V x)); lra).
    destruct (Req_dec (V x) 0); auto. now apply Rabs_no_R0 in H0. }
  destruct D as [-> |D]; [apply round_0; auto with typeclass_instances|].
  apply round_generic; auto with typeclass_instances. apply generic_format_abs_inv. rewrite D.
  apply generic_format_bpow. unfold FIX_exp. lia.
Qed.

Theorem integer_block d B ts :
  integers_ok d B = true -> Forall (fun x => integer (V x)) ts -> Forall normal ts -> magnitude ts <= bp B ->
  exists z, sum_numbers d ts = Num z /\ V z = exact_sum ts /\ normal z.
Proof.
  intros O I N M. pose proof (integers_exact d B ts O I N M) as E. unfold integers_ok in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[P Nn] B0] Bp] Em] Ex] K] O]. pose proof (plain_p _ P) as Pp.
  assert (T : exact_total d ts) by (apply no_carry_exact; now destruct (carry_bits d)).
  assert (Ab : Rabs (exact_sum ts) <= bp B) by (pose proof (exact_sum_abs ts); lra).
  assert (G : flt_rnd (out d) (exact_sum ts) = exact_sum ts).
  { assert (Prec_gt_0 (p (out d) + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd, flt.
    apply round_generic; auto with typeclass_instances. apply integer_flt; auto using integer_sum. lia.
    eapply Rle_trans; [exact Ab|]. apply bpow_le. lia. }
  unfold sum_numbers. rewrite T. set (s := sign_of _ _ _ _).
  destruct (convert_finite (out d) s (zsum (counts d ts)) (unit_of d ts) P) as [z Hz].
  { rewrite E, G. eapply Rle_lt_trans; [exact Ab|]. apply bpow_lt. lia. }
  exists z. split; auto. pose proof (convert_num _ _ _ _ _ P Hz) as C. rewrite E, G in C. split; auto.
  intros Zz. destruct (convert_exponent _ _ _ _ _ P Hz) as [_ H]. destruct (H Zz) as [H1|H1]; auto.
  rewrite H1. apply Rle_trans with 1.
  - change 1 with (bp 0). apply bpow_le. lia.
  - destruct (integer_sum ts I) as [k Hk]. rewrite C, Hk, <- abs_IZR. apply IZR_le.
    assert (k <> 0)%Z; [|lia]. intros ->. unfold is_zero in Zz. apply Z.eqb_neq in Zz. apply Zz.
    rewrite Hk in C. unfold V, signed in C. pose proof (bpow_gt_0 radix2 (lsb z)). apply eq_IZR.
    destruct (neg z); [rewrite opp_IZR in C|]; nra.
Qed.

Lemma magnitude_app a b : magnitude (a ++ b) = magnitude a + magnitude b.
Proof. unfold magnitude. now rewrite map_app, Rsum_app. Qed.

(** Over all blocks, and over chained calls: |c| + sum |a_k b_k| <= 2^B, then d is the sum. *)
Theorem integer_chain d B bs : integers_ok d B = true -> forall c,
  integer (V c) -> normal c -> Forall (Forall (fun x => integer (V x))) bs -> Forall (Forall normal) bs ->
  Rabs (V c) + Rsum (map magnitude bs) <= bp B ->
  exists z, chain d (map (map Num) bs) (Num c) = Num z /\ V z = V c + Rsum (map exact_sum bs).
Proof.
  intros O. induction bs as [|b r IH]; simpl; intros c Ic Nc I N M.
  - exists c. split; auto. lra.
  - inversion I; subst. inversion N; subst.
    assert (0 <= Rsum (map magnitude r)).
    { apply Rsum_nonneg. intros ts. unfold magnitude. apply Rsum_nonneg. intros; apply Rabs_pos. }
    assert (M' : magnitude (b ++ [c]) <= bp B) by (rewrite magnitude_app; unfold magnitude at 2; simpl; lra).
    destruct (integer_block d B (b ++ [c]) O) as [z [Hz [Vz Nz]]]; auto.
    { apply Forall_app; auto. } { apply Forall_app; auto. }
    rewrite exact_sum_app in Vz. unfold exact_sum at 2 in Vz. simpl in Vz.
    destruct (IH z) as [y [Hy Vy]]; auto.
    + destruct (integer_sum (b ++ [c])) as [k Hk]. { apply Forall_app; auto. }
      exists k. rewrite <- Hk, exact_sum_app. unfold exact_sum at 2. simpl. lra.
    + pose proof (exact_sum_abs (b ++ [c])). rewrite exact_sum_app, magnitude_app in *.
      unfold exact_sum at 2, magnitude at 2 in H0. simpl in H0. rewrite <- Vz in H0. lra.
    + exists y. split; [|lra]. unfold chain in *. simpl. change [Num c] with (map Num [c]). rewrite <- map_app, sum_values_num, Hz. exact Hy.
Qed.

(** ** (i) Sums that are exact and then rounded are monotone in every term *)

(** Rounding with results that become zeros: those below 2^emin, and where the conversion says so those that are
    below it when they are rounded as if exponents had no end. *)
Definition flx_rnd c := round radix2 (FLX_exp (p c + 1)) (rnd (rho c)).
Definition vanishes c x := Rlt_bool (Rabs (flt_rnd c x)) (bp (emin c)) || tiny c && Rlt_bool (Rabs (flx_rnd c x)) (bp (emin c)).
Definition flushed_rnd c x := if flushes c && vanishes c x then 0 else flt_rnd c x.

Lemma is_tiny_ok c n u : (0 <= p c)%Z -> n <> 0%Z ->
  is_tiny c n u = Rlt_bool (Rabs (flx_rnd c (IZR n * bp u))) (bp (emin c)).
Proof.
  intros P N. unfold is_tiny. set (ex := (Z.log2 (Z.abs n) + u - p c)%Z). set (r := round_div (rho c) n (ex - u)).
  assert (C : cexp radix2 (FLX_exp (p c + 1)) (IZR n * bp u) = ex).
  { unfold cexp, FLX_exp. rewrite log2_mag by easy. unfold ex. lia. }
  assert (Q : flx_rnd c (IZR n * bp u) = IZR r * bp ex).
  { unfold flx_rnd, round, F2R, scaled_mantissa; simpl. rewrite C. unfold r. rewrite round_div_ok.
    do 3 f_equal. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia. }
  assert (X : IZR n * bp u <> 0).
  { apply Rmult_integral_contrapositive_currified; [now apply IZR_neq|]. pose proof (bpow_gt_0 radix2 u). lra. }
  assert (R0 : r <> 0%Z).
  { intros R0. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
    apply (round_neq_0_negligible_exp radix2 (FLX_exp (p c + 1))) with (rnd := rnd (rho c)) in X;
      auto with typeclass_instances.
    - apply X. fold (flx_rnd c (IZR n * bp u)). rewrite Q, R0. lra.
    - apply negligible_exp_FLX. auto. }
  pose proof (log2_mag r ex R0) as M. rewrite Q.
  destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin c)) as [L|L]; symmetry.
  - apply Rlt_bool_true. apply Rlt_le_trans with (bp (mag radix2 (IZR r * bp ex))); [apply bpow_mag_gt|].
    apply bpow_le. rewrite M. lia.
  - apply Rlt_bool_false. apply Rle_trans with (bp (mag radix2 (IZR r * bp ex) - 1)).
    + apply bpow_le. rewrite M. lia.
    + apply bpow_mag_le. apply Rmult_integral_contrapositive_currified; [now apply IZR_neq|].
      pose proof (bpow_gt_0 radix2 ex). lra.
Qed.

Definition monotone_conv (c : conversion) : bool :=
  (negb (saturates c) || match rho c with RNE | RNA => true | _ => false end) && (0 <=? p c)%Z.

Lemma convert_num_flushed c s n u z : monotone_conv c = true -> convert c s n u = Num z ->
  V z = flushed_rnd c (IZR n * bp u).
Proof.
  intros P H. unfold flushed_rnd. rewrite <- round_ok. cbv zeta. unfold convert in H.
  set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct (Z.eqb_spec r 0) as [R|R]; simpl in H.
  - injection H as <-. rewrite R, Rmult_0_l. destruct (_ && vanishes _ _); unfold V, signed; simpl; destruct (_ && s); simpl; lra.
  - destruct (round_div_log2 c n u R) as [B1 B2]. fold ex in B1, B2. fold r in B1, B2.
    assert (Q : IZR r * bp ex = flt_rnd c (IZR n * bp u)) by apply round_ok. rewrite Q.
    assert (N : n <> 0%Z) by (intros ->; apply R; unfold r; apply round_div_0).
    assert (P0 : (0 <= p c)%Z) by (unfold monotone_conv in P; apply andb_prop in P; lia).
    rewrite is_tiny_ok in H by easy.
    assert (W : ((Z.log2 (Z.abs r) + ex <? emin c)%Z || tiny c && Rlt_bool (Rabs (flx_rnd c (IZR n * bp u))) (bp (emin c)))
                = vanishes c (IZR n * bp u)).
    { unfold vanishes. f_equal. destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin c)) as [L|L]; symmetry.
      - apply Rlt_bool_true. eapply Rlt_le_trans; [exact B2|]. apply bpow_le. lia.
      - apply Rlt_bool_false. eapply Rle_trans; [|exact B1]. apply bpow_le. lia. }
    rewrite W in H. destruct (flushes c && vanishes c (IZR n * bp u)).
    + injection H as <-. unfold V, signed; simpl; destruct (_ && s); simpl; lra.
    + destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
      * exfalso. unfold monotone_conv in P. apply andb_prop in P. destruct P as [P _].
        destruct (saturates c); simpl in *; [|easy]. destruct (rho c); easy.
      * rewrite <- Q. injection H as <-. unfold V, signed, lsb; simpl.
        replace (if (r <? 0)%Z then (- Z.abs r)%Z else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia).
        do 2 f_equal. lia.
Qed.

Lemma flushed_rnd_le c x y : (0 <= p c)%Z -> x <= y -> flushed_rnd c x <= flushed_rnd c y.
Proof.
  intros P H. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  assert (T : forall a b, a <= b -> flt_rnd c a <= flt_rnd c b).
  { intros a b h. unfold flt_rnd, flt. apply round_le; auto with typeclass_instances. }
  assert (X : forall a b, a <= b -> flx_rnd c a <= flx_rnd c b).
  { intros a b h. unfold flx_rnd. apply round_le; auto with typeclass_instances. }
  assert (T0 : flt_rnd c 0 = 0) by (unfold flt_rnd; apply round_0; auto with typeclass_instances).
  assert (X0 : flx_rnd c 0 = 0) by (unfold flx_rnd; apply round_0; auto with typeclass_instances).
  pose proof (T x y H) as Txy. pose proof (X x y H) as Xxy. pose proof (bpow_gt_0 radix2 (emin c)) as E.
  assert (S : forall a, Rabs (flt_rnd c a) < bp (emin c) \/ (0 <= a /\ bp (emin c) <= flt_rnd c a) \/ (a <= 0 /\ flt_rnd c a <= - bp (emin c))).
  { intros a. destruct (Rlt_le_dec (Rabs (flt_rnd c a)) (bp (emin c))) as [h|h]; auto. right.
    destruct (Rle_dec 0 a) as [h0|h0]; [left|right]; (split; [lra|]).
    - pose proof (T 0 a h0). rewrite Rabs_pos_eq in h; lra.
    - assert (h1 : a <= 0) by lra. pose proof (T a 0 h1). rewrite Rabs_left1 in h; lra. }
  unfold flushed_rnd, vanishes. destruct (flushes c); simpl; auto.
  destruct (Rlt_bool_spec (Rabs (flt_rnd c x)) (bp (emin c))) as [h|h],
    (Rlt_bool_spec (Rabs (flt_rnd c y)) (bp (emin c))) as [h'|h']; simpl; try lra.
  - destruct (tiny c && _); [lra|]. apply Rabs_def2 in h.
    destruct (S y) as [Sy|[Sy|Sy]]; lra.
  - destruct (tiny c && _); [lra|]. apply Rabs_def2 in h'.
    destruct (S x) as [Sx|[Sx|Sx]]; lra.
  - destruct (tiny c); simpl; [|lra].
    destruct (S x) as [Sx|[[x0 Sx]|[x0 Sx]]]; [lra| |]; (destruct (S y) as [Sy|[[y0 Sy]|[y0 Sy]]]; [lra| |]).
    + pose proof (X 0 x x0). pose proof (X 0 y y0). rewrite X0 in *. rewrite !Rabs_pos_eq by lra.
      destruct (Rlt_bool_spec (flx_rnd c x) (bp (emin c))), (Rlt_bool_spec (flx_rnd c y) (bp (emin c))); lra.
    + lra.
    + destruct (Rlt_bool _ _), (Rlt_bool _ _); lra.
    + pose proof (X x 0 x0). pose proof (X y 0 y0). rewrite X0 in *. rewrite !Rabs_left1 by lra.
      destruct (Rlt_bool_spec (- flx_rnd c x) (bp (emin c))), (Rlt_bool_spec (- flx_rnd c y) (bp (emin c))); lra.
Qed.

Definition exact_node (d : sum) : bool :=
  match fraction_bits d, carry_bits d with None, None => monotone_conv (out d) | _, _ => false end.

Lemma exact_node_value d ts z : exact_node d = true -> sum_numbers d ts = Num z -> V z = flushed_rnd (out d) (exact_sum ts).
Proof.
  unfold exact_node. destruct (fraction_bits d) eqn:F; [easy|]. destruct (carry_bits d) eqn:K; [easy|]. intros M H.
  unfold sum_numbers in H. apply convert_num_flushed in H; auto. rewrite H. f_equal.
  unfold total. rewrite K. apply lossless_total. apply Forall_forall. intros x Hx _.
  unfold unit_of. rewrite F. now apply least_lsb_le.
Qed.

Lemma exact_sum_le ts us : Forall2 (fun x y => V x <= V y) ts us -> exact_sum ts <= exact_sum us.
Proof. unfold exact_sum. induction 1; simpl; lra. Qed.

Fixpoint tree_ind' (P : tree -> Prop) (HT : forall v, P (Term v)) (HN : forall d l, Forall P l -> P (Node d l)) (t : tree) : P t :=
  match t with
  | Term v => HT v
  | Node d l => HN d l ((fix aux l : Forall P l :=
      match l with [] => Forall_nil P | x :: r => Forall_cons x (tree_ind' P HT HN x) (aux r) end) l)
  end.

(** One tree with other terms, none of which is smaller. *)
Inductive tree_le : tree -> tree -> Prop :=
| le_term x y : V x <= V y -> tree_le (Term (Num x)) (Term (Num y))
| le_node d l l' : exact_node d = true -> Forall2 tree_le l l' -> tree_le (Node d l) (Node d l').

Theorem monotone t : forall t' z z', tree_le t t' -> eval t = Num z -> eval t' = Num z' -> V z <= V z'.
Proof.
  induction t as [v|d l IH] using tree_ind'; intros t' z z' L E E'; inversion L; subst.
  - simpl in *. now injection E as <-; injection E' as <-.
  - rename H1 into H2. rename H3 into H4.
    simpl in E, E'. destruct (sum_values_inv _ _ _ E) as [ts Q]. destruct (sum_values_inv _ _ _ E') as [us Q'].
    rewrite Q, sum_values_num in E. rewrite Q', sum_values_num in E'.
    rewrite (exact_node_value _ _ _ H2 E), (exact_node_value _ _ _ H2 E'). apply flushed_rnd_le.
    + unfold exact_node, monotone_conv in H2. destruct (fraction_bits d), (carry_bits d); try easy. apply andb_prop in H2. lia.
    + apply exact_sum_le. clear E E' L H2. revert l' ts us H4 Q Q'.
      induction IH as [|a l Ha IH IHl]; intros l' ts us F Q Q'; inversion F; subst; destruct ts, us; try easy.
      simpl in Q, Q'. injection Q as Qa Q. injection Q' as Qa' Q'. constructor; [eapply Ha; eauto|eapply IHl; eauto].
Qed.

(** FMA chains: c <= c' implies d <= d'. *)
Theorem fma_monotone d ps c c' z z' : exact_node d = true -> V c <= V c' ->
  eval (fma_chain d (map Num ps) (Num c)) = Num z -> eval (fma_chain d (map Num ps) (Num c')) = Num z' -> V z <= V z'.
Proof.
  intros X H. apply monotone. unfold fma_chain.
  assert (G : forall t t', tree_le t t' -> tree_le (fold_left (fun t v => Node d [t; Term v]) (map Num ps) t)
                                                 (fold_left (fun t v => Node d [t; Term v]) (map Num ps) t')).
  { induction ps as [|a ps IH]; simpl; intros t t' L; auto. apply IH. apply le_node; auto.
    apply Forall2_cons; auto. apply Forall2_cons; auto. apply le_term, Rle_refl. }
  apply G. now constructor.
Qed.

(** ** (k) Relative error *)

Definition live (ts : list num) : Z := Z.of_nat (length (filter (fun x => negb (is_zero x)) ts)).

Lemma lossy_live u ts x : In x ts -> is_zero x = false -> (u <= lsb x)%Z -> (lossy u ts <= live ts - 1)%Z.
Proof.
  intros Hx Zx L. unfold lossy, live. apply in_split in Hx. destruct Hx as [a [b ->]].
  assert (G : forall l, (length (filter (fun x => negb (is_zero x) && (lsb x <? u)%Z) l) <= length (filter (fun x => negb (is_zero x)) l))%nat).
  { induction l; simpl; auto. destruct (is_zero a0); simpl; auto. destruct (lsb a0 <? u)%Z; simpl; lia. }
  rewrite !filter_app, !app_length. simpl. rewrite Zx. simpl. destruct (Z.ltb_spec (lsb x) u); [lia|]. simpl.
  pose proof (G a). pose proof (G b). lia.
Qed.

Lemma cut_sum_abs u ts : Rabs (Rsum (map (fun x => fix_rnd RZ u (V x)) ts)) <= magnitude ts.
Proof.
  unfold magnitude. induction ts; simpl. rewrite Rabs_R0; lra.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (truncated_term u (V a)). lra.
Qed.

(** A sum in units of 2^u, rounded: what it loses beside units of the larger of its own exponent and another. *)
Lemma conversion_loss c n u M :
  (0 <= p c)%Z -> (emin c <= M)%Z -> (u <= M - p c)%Z -> ((n <> 0)%Z -> (Z.log2 (Z.abs n) + u <= M)%Z) ->
  Rabs (flt_rnd c (IZR n * bp u) - IZR n * bp u) <= bp (M - p c) - bp u.
Proof.
  intros P EM UM LM. pose proof (bpow_le radix2 u (M - p c) UM) as B.
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Rmult_0_l. unfold flt_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. lra. }
  specialize (LM N). set (ex := last_bit c n u).
  assert (Ex : (ex <= M - p c)%Z). { unfold ex, last_bit. destruct (Z.eqb_spec n 0); [easy|]. lia. }
  pose proof (round_ok c n u) as Q. cbv zeta in Q. fold ex in Q.
  destruct (Z_le_gt_dec ex u) as [h|h].
  - rewrite round_div_unfold in Q. destruct (Z.leb_spec (ex - u) 0); [|lia]. rewrite <- Q, mult_IZR, <- bp_Z by lia.
    rewrite Rmult_assoc, <- bpow_plus. replace (- (ex - u) + ex)%Z with u by lia. rewrite Rminus_eq_0, Rabs_R0. lra.
  - set (r := round_div (rho c) n (ex - u)) in *. rewrite <- Q.
    assert (G : IZR r * bp ex - IZR n * bp u = IZR (r * 2 ^ (ex - u) - n) * bp u).
    { rewrite minus_IZR, mult_IZR, <- bp_Z by lia. rewrite Rmult_minus_distr_r, Rmult_assoc, <- bpow_plus. do 3 f_equal. lia. }
    assert (L : Rabs (IZR r * bp ex - IZR n * bp u) < bp ex).
    { rewrite Q. assert (X : IZR n * bp u <> 0). { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
      pose proof (flt_valid c P). pose proof (error_lt_ulp radix2 (flt c) (rnd (rho c)) _ X) as U.
      rewrite ulp_neq_0 in U by easy. unfold flt_rnd. unfold ex. now rewrite last_bit_ok. }
    rewrite G in *. rewrite Rabs_mult, (Rabs_pos_eq (bp u)) in * by apply bpow_ge_0. rewrite <- abs_IZR in *.
    assert (D : (Z.abs (r * 2 ^ (ex - u) - n) <= 2 ^ (ex - u) - 1)%Z).
    { assert (Z.abs (r * 2 ^ (ex - u) - n) < 2 ^ (ex - u))%Z; [|lia]. apply lt_IZR.
      apply Rmult_lt_reg_r with (bp u); [apply bpow_gt_0|]. rewrite <- (bp_Z (ex - u)), <- bpow_plus by lia.
      now replace (ex - u + u)%Z with ex by lia. }
    apply IZR_le in D. rewrite minus_IZR, <- bp_Z in D by lia.
    assert (bp (ex - u) * bp u = bp ex) by (rewrite <- bpow_plus; f_equal; lia).
    pose proof (bpow_le radix2 ex (M - p c) Ex). pose proof (bpow_gt_0 radix2 u). nra.
Qed.

Lemma conversion_loss_nearest c n u M :
  rho c = RNE \/ rho c = RNA ->
  (0 <= p c)%Z -> (emin c <= M)%Z -> ((n <> 0)%Z -> (Z.log2 (Z.abs n) + u <= M)%Z) ->
  Rabs (flt_rnd c (IZR n * bp u) - IZR n * bp u) <= bp (M - p c - 1).
Proof.
  intros NE P EM LM. pose proof (bpow_ge_0 radix2 (M - p c - 1)).
  destruct (Z.eq_dec n 0) as [->|N].
  { rewrite Rmult_0_l. unfold flt_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. lra. }
  specialize (LM N). assert (X : IZR n * bp u <> 0). { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
  pose proof (flt_valid c P) as FV.
  assert (U : Rabs (flt_rnd c (IZR n * bp u) - IZR n * bp u) <= / 2 * ulp radix2 (flt c) (IZR n * bp u)).
  { unfold flt_rnd. destruct NE as [-> | ->]; simpl rnd; now apply error_le_half_ulp. }
  rewrite ulp_neq_0, <- last_bit_ok in U by easy. eapply Rle_trans; [exact U|].
  replace (/ 2) with (bp (-1)) by (simpl; lra). rewrite <- bpow_plus. apply bpow_le.
  unfold last_bit. destruct (Z.eqb_spec n 0); [easy|]. lia.
Qed.

(** The constants, as rationals times powers of two: (max(n - 2, 0)) 2^-F + 2^-p, or (n - 1) 2^-F + 2^-(p+1). *)
Definition relative_constant (m : mode) (n f pp : Z) : R :=
  match m with
  | RNE | RNA => IZR (n - 1) * bp (- f) + bp (- pp - 1)
  | _ => IZR (Z.max (n - 2) 0) * bp (- f) + bp (- pp)
  end.

Theorem relative_error d f ts x E z :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z ->
  alignment d = RZ -> normalise d = false -> fraction_bits d = Some f -> (p (out d) <= f)%Z ->
  Forall normal ts -> largest d ts = Some E -> (emin (out d) <= E)%Z ->
  In x ts -> is_zero x = false -> exp x = E -> (frac x <= f)%Z ->
  Rabs (V z - exact_sum ts) <= relative_constant (rho (out d)) (live ts) f (p (out d)) * magnitude ts.
Proof.
  intros P T H A Nn F Pf N L EE Hx Zx Ex Fx. pose proof (plain_p _ P) as Pp.
  unfold sum_numbers in H. rewrite T in H. pose proof (convert_num _ _ _ _ _ P H) as C. clear H.
  assert (U : unit_of d ts = (E - f)%Z) by (unfold unit_of; now rewrite F, L).
  pose proof (counts_ok d ts) as K. cbv zeta in K. rewrite A, U in K. rewrite U in C.
  set (u := (E - f)%Z) in *. set (n := zsum (counts d ts)) in *.
  pose proof (cut_sum_err RZ u ts) as Er. pose proof (cut_sum_abs u ts) as Ab. rewrite <- K in Er, Ab.
  set (S := IZR n * bp u) in *. set (M := Z.max E (if (n =? 0)%Z then E else (Z.log2 (Z.abs n) + u)%Z)).
  assert (LM : (n <> 0)%Z -> (Z.log2 (Z.abs n) + u <= M)%Z) by (unfold M; destruct (Z.eqb_spec n 0); lia).
  assert (EM : (E <= M)%Z) by lia.
  assert (Mag : bp M <= magnitude ts).
  { assert (bp E <= magnitude ts).
    { eapply Rle_trans; [|now apply magnitude_in with (x := x)]. rewrite Forall_forall in N. rewrite <- Ex. now apply N. }
    unfold M. destruct (Z.eqb_spec n 0) as [|n0]; [now rewrite Z.max_id|].
    destruct (Z.max_spec E (Z.log2 (Z.abs n) + u)) as [[_ ->]|[_ ->]]; auto.
    eapply Rle_trans; [|exact Ab]. pose proof (log2_mag n u n0) as Q. unfold S.
    assert (X : IZR n * bp u <> 0). { pose proof (bpow_gt_0 radix2 u). intros Y. apply n0. apply eq_IZR. nra. }
    destruct (mag radix2 (IZR n * bp u)) as [m Hm]. simpl in Q. subst m. specialize (Hm X).
    replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. lra. }
  assert (Lo : (lossy u ts <= live ts - 1)%Z). { apply lossy_live with x; auto. unfold lsb, u. lia. }
  assert (Lo0 : (0 <= lossy u ts)%Z) by apply lossy_le.
  assert (Bu : bp u <= bp (M - f)) by (apply bpow_le; lia).
  assert (BM : bp (M - f) = bp (- f) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  assert (Bp : bp (M - p (out d)) = bp (- p (out d)) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  assert (Bq : bp (M - p (out d) - 1) = bp (- p (out d) - 1) * bp M) by (rewrite <- bpow_plus; f_equal; lia).
  pose proof (bpow_gt_0 radix2 u). pose proof (bpow_ge_0 radix2 (- f)). pose proof (bpow_ge_0 radix2 (- p (out d))).
  pose proof (bpow_ge_0 radix2 (- p (out d) - 1)). pose proof (bpow_ge_0 radix2 M).
  replace (V z - exact_sum ts) with ((V z - S) + (S - exact_sum ts)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite C.
  assert (Near : rho (out d) = RNE \/ rho (out d) = RNA -> Rabs (flt_rnd (out d) S - S) + Rabs (S - exact_sum ts)
            <= (IZR (live ts - 1) * bp (- f) + bp (- p (out d) - 1)) * magnitude ts).
  { intros NE. pose proof (conversion_loss_nearest (out d) n u M NE Pp ltac:(lia) LM) as CL. fold S in CL.
    apply IZR_le in Lo. apply IZR_le in Lo0. assert (0 <= IZR (live ts - 1)) by lra.
    apply Rle_trans with ((IZR (live ts - 1) * bp (- f) + bp (- p (out d) - 1)) * bp M).
    - assert (IZR (lossy u ts) * bp u <= IZR (live ts - 1) * bp (M - f)) by (apply Rmult_le_compat; lra).
      rewrite BM in H5. rewrite Bq in CL. lra.
    - apply Rmult_le_compat_l; auto. apply Rplus_le_le_0_compat; auto. now apply Rmult_le_pos. }
  assert (Cut : Rabs (flt_rnd (out d) S - S) + Rabs (S - exact_sum ts)
            <= (IZR (Z.max (live ts - 2) 0) * bp (- f) + bp (- p (out d))) * magnitude ts).
  { pose proof (conversion_loss (out d) n u M Pp ltac:(lia) ltac:(unfold u; lia) LM) as CL. fold S in CL.
    assert (Q : (lossy u ts - 1 <= Z.max (live ts - 2) 0)%Z) by lia. apply IZR_le in Q. rewrite minus_IZR in Q.
    assert (Q0 : 0 <= IZR (Z.max (live ts - 2) 0)) by (apply IZR_le; lia).
    apply Rle_trans with ((IZR (Z.max (live ts - 2) 0) * bp (- f) + bp (- p (out d))) * bp M).
    - assert (IZR (Z.max (live ts - 2) 0) * bp u <= IZR (Z.max (live ts - 2) 0) * bp (M - f)) by (apply Rmult_le_compat_l; auto).
      rewrite BM in H4. rewrite Bp in CL. nra.
    - apply Rmult_le_compat_l; auto. apply Rplus_le_le_0_compat; auto. now apply Rmult_le_pos. }
  unfold relative_constant. destruct (rho (out d)); auto.
Qed.

(** ** From words to terms: what a format's words can be *)

Definition format_ok (f : format) : bool := (0 <=? fbits f)%Z && (0 <=? ebits f)%Z.
Definition least (f : format) : Z := if has_zero f then (1 - bias f)%Z else (- bias f)%Z.

Lemma pow2_pos k : (0 <= k)%Z -> (0 < 2 ^ k)%Z.
Proof. intros. apply Z.pow_pos_nonneg; lia. Qed.

Theorem decode_num f w x : format_ok f = true -> decode f w = Num x ->
  (0 <= sig x <= 2 ^ (fbits f + 1) - 1)%Z /\ frac x = fbits f /\ (least f <= exp x)%Z /\
  ((2 ^ fbits f <= sig x)%Z \/ exp x = least f).
Proof.
  intros O H. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2].
  apply Z.leb_le in O1. apply Z.leb_le in O2. unfold decode in H.
  set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z) in *.
  pose proof (pow2_pos (fbits f) O1) as P. pose proof (Z.mod_pos_bound code (2 ^ fbits f) P) as M.
  assert (E : (0 <= code / 2 ^ fbits f)%Z).
  { apply Z.div_pos; auto. apply Z.mod_pos_bound. apply pow2_pos. lia. }
  assert (D : (2 ^ (fbits f + 1) = 2 * 2 ^ fbits f)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  set (t := (code mod 2 ^ fbits f)%Z) in *. set (e := (code / 2 ^ fbits f)%Z) in *.
  assert (Fin : (if (e =? 0)%Z && has_zero f
    then Num {| neg := has_sign f && (w / 2 ^ ignored f / 2 ^ (ebits f + fbits f) =? 1)%Z;
                sig := if subnormals f then t else 0%Z; exp := (1 - bias f)%Z; frac := fbits f |}
    else Num {| neg := has_sign f && (w / 2 ^ ignored f / 2 ^ (ebits f + fbits f) =? 1)%Z;
                sig := (t + 2 ^ fbits f)%Z; exp := (e - bias f)%Z; frac := fbits f |}) = Num x).
  { destruct (special f).
    - destruct (e =? 2 ^ ebits f - 1)%Z; [destruct (t =? 0)%Z; easy|exact H].
    - destruct (code =? _)%Z; [easy|exact H].
    - destruct (_ && (code =? 0)%Z); [easy|exact H].
    - exact H. }
  clear H. clearbody e t code. unfold least. remember (1 - bias f)%Z as m1 eqn:Em.
  destruct (Z.eqb_spec e 0) as [E0|E0], (has_zero f); cbn [andb] in Fin; injection Fin as <-; cbn [sig exp frac];
    try destruct (subnormals f); (split; [lia|split; [reflexivity|split; [lia|]]]); auto; left; lia.
Qed.

(** ** Values bounded by shapes; products; results *)

Definition fits' (s : shape) (x : num) : Prop := (0 <= sig x)%Z /\ IZR (sig x) * bp (- frac x) <= IZR (fst s) * bp (- snd s).

Lemma fits_fits' s x : fits s x -> fits' s x.
Proof.
  intros [[H0 H1] H2]. split; auto. rewrite H2. apply Rmult_le_compat_r; [apply bpow_ge_0|]. now apply IZR_le.
Qed.

Lemma count_le' f e s x : fits' s x -> (exp x <= e)%Z -> (Z.abs (cut RZ (e - f) x) <= top f s)%Z.
Proof.
  intros [H0 H1] He. unfold cut, top, lsb.
  assert (A : Z.abs (round_div RZ (signed x) (e - f - (exp x - frac x))) = round_div RZ (sig x) (e - f - (exp x - frac x))).
  { assert (0 <= round_div RZ (sig x) (e - f - (exp x - frac x)))%Z.
    { rewrite <- (round_div_0 RZ 0). apply round_div_le. rewrite Rmult_0_l. apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. }
    unfold signed. destruct (neg x); [rewrite round_div_RZ_opp|]; lia. }
  rewrite A. apply round_div_le.
  replace (- (e - f - (exp x - frac x)))%Z with (- frac x + (exp x - e + f))%Z by lia.
  replace (- (snd s - f))%Z with (- snd s + f)%Z by lia. rewrite !bpow_plus, <- !Rmult_assoc.
  assert (0 <= IZR (sig x) * bp (- frac x)) by (apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]).
  assert (bp (exp x - e) <= 1) by (change 1 with (bp 0); apply bpow_le; lia).
  pose proof (bpow_ge_0 radix2 (exp x - e)). pose proof (bpow_gt_0 radix2 f).
  apply Rmult_le_compat_r; [lra|]. nra.
Qed.

Lemma top_nonneg' f s x : fits' s x -> (0 <= top f s)%Z.
Proof.
  intros [H0 H1]. apply top_nonneg. apply le_IZR. pose proof (bpow_gt_0 radix2 (- snd s)).
  assert (0 <= IZR (sig x) * bp (- frac x)) by (apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]). nra.
Qed.

Theorem carry_suffices' d f k ss ts :
  fraction_bits d = Some f -> carry_bits d = Some k -> alignment d = RZ -> normalise d = false -> (0 <= f)%Z -> (0 <= k)%Z ->
  carry_ok f k ss = true -> Forall2 fits' ss ts -> exact_total d ts.
Proof.
  intros F K A N Hf Hk O T. unfold exact_total, total. rewrite F, K. apply wrap_small; [lia|].
  replace (1 + (f + 1 + k) - 1)%Z with (f + 1 + k)%Z by lia. unfold carry_ok in O. apply Z.ltb_lt in O.
  cut (Z.abs (zsum (counts d ts)) <= zsum (map (top f) ss))%Z; [lia|].
  unfold counts, unit_of. rewrite F, A. destruct (largest d ts) as [e|] eqn:L.
  - assert (B : Forall (fun x => is_zero x = true \/ (exp x <= e)%Z) ts).
    { apply Forall_forall. intros x Hx. pose proof (largest_in d ts x Hx) as I. rewrite L in I.
      unfold term_exponent in I. rewrite N in I. destruct (is_zero x); simpl in I; auto. }
    clear L O. induction T as [|s x ss ts Fx T IH]; simpl; [lia|]. inversion B; subst.
    specialize (IH H2). unfold zsum in *. simpl.
    assert (Z.abs (cut RZ (e - f) x) <= top f s)%Z; [|lia].
    destruct H1 as [H1|H1]; [|now apply count_le']. rewrite cut_zero by easy. now apply (top_nonneg' f s x).
  - rewrite zeros_count. rewrite zsum_zeros. simpl.
    + clear -T. induction T; simpl; [lia|]. unfold zsum in *; simpl. pose proof (top_nonneg' f x y H). lia.
    + apply forallb_forall. intros x Hx. now apply (largest_none d ts).
Qed.

Lemma product_fits fa fb x y wa wb : format_ok fa = true -> format_ok fb = true ->
  decode fa wa = Num x -> decode fb wb = Num y -> fits' (product_shape fa fb) (times x y).
Proof.
  intros Oa Ob Da Db. apply fits_fits'. destruct (decode_num _ _ _ Oa Da) as [A1 [A2 _]].
  destruct (decode_num _ _ _ Ob Db) as [B1 [B2 _]]. split; simpl; [|lia]. split; [nia|]. apply Z.mul_le_mono_nonneg; lia.
Qed.

Lemma number_shape_le a b : (0 <= a <= b)%Z -> IZR (fst (number_shape a)) * bp (- snd (number_shape a)) <= IZR (fst (number_shape b)) * bp (- snd (number_shape b)).
Proof.
  intros H. unfold number_shape, fst, snd. rewrite !minus_IZR, <- !bp_Z by lia. rewrite !Rmult_minus_distr_r, <- !bpow_plus, !Rmult_1_l.
  replace (a + 1 + - a)%Z with 1%Z by lia. replace (b + 1 + - b)%Z with 1%Z by lia.
  assert (bp (- b) <= bp (- a)) by (apply bpow_le; lia). lra.
Qed.

Lemma decode_fits f w x m : format_ok f = true -> (fbits f <= m)%Z -> decode f w = Num x -> fits' (number_shape m) x.
Proof.
  intros O L D. destruct (decode_num _ _ _ O D) as [A1 [A2 _]].
  assert (F : fits' (number_shape (fbits f)) x). { apply fits_fits'. split; auto. }
  destruct F as [F0 F1]. split; auto. eapply Rle_trans; [exact F1|]. apply number_shape_le.
  unfold format_ok in O. apply andb_prop in O. lia.
Qed.

(** A result of a conversion is below 2 at its exponent. *)
Lemma convert_fits c s n u z m : (0 <= p c)%Z -> (p c <= m)%Z -> convert c s n u = Num z -> fits' (number_shape m) z.
Proof.
  intros P L H. assert (G : fits' (number_shape (p c)) z).
  2: { destruct G as [F0 F1]. split; auto. eapply Rle_trans; [exact F1|]. apply number_shape_le. lia. }
  assert (T : bp (p c + 1) * bp (- p c) = 2) by (rewrite <- bpow_plus; replace (p c + 1 + - p c)%Z with 1%Z by lia; reflexivity).
  assert (S : IZR (fst (number_shape (p c))) * bp (- snd (number_shape (p c))) = 2 - bp (- p c)).
  { unfold number_shape, fst, snd. rewrite minus_IZR, <- bp_Z by lia. lra. }
  assert (Q : bp (- p c) <= 1) by (change 1 with (bp 0); apply bpow_le; lia). pose proof (bpow_gt_0 radix2 (- p c)) as Q0.
  unfold convert in H. set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct ((r =? 0)%Z || _) eqn:Z0; [injection H as <-; unfold fits'; cbn [sig frac]; split; [lia|]|].
  { rewrite Rmult_0_l. rewrite S. lra. }
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
  { cbv zeta in H. match type of H with (if ?b then _ else _) = _ => destruct b end; [easy|]. injection H as <-. unfold fits'. cbn [sig frac]. split.
    - pose proof (pow2_pos (p c + 1)). lia.
    - apply Rle_refl. }
  injection H as <-. unfold fits'. cbn [sig frac]. split; [lia|]. rewrite S.
  assert (R : r <> 0%Z) by (intros E; rewrite E in Z0; easy).
  set (l := Z.log2 (Z.abs r)) in *. destruct (Z.log2_spec (Z.abs r)) as [L1 L2]; [lia|]. fold l in L1, L2.
  assert (L0 : (0 <= l)%Z) by apply Z.log2_nonneg.
  (* |r| <= 2^(p+1), the last bit being that of the sum *)
  assert (B : (Z.abs r <= 2 ^ (p c + 1))%Z).
  { apply le_IZR. rewrite abs_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp ex); [apply bpow_gt_0|].
    rewrite <- (Rabs_pos_eq (bp ex)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult. unfold r, ex. rewrite round_ok.
    rewrite <- bpow_plus. apply flt_rnd_bound; auto.
    - unfold last_bit. destruct (n =? 0)%Z; lia.
    - destruct (Z.eq_dec n 0) as [->|N]; [rewrite Rmult_0_l, Rabs_R0; apply bpow_ge_0|].
      pose proof (log2_mag n u N) as M. assert (X : IZR n * bp u <> 0).
      { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
      destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in M. subst mm. specialize (Hm X).
      apply Rlt_le. eapply Rlt_le_trans; [apply Hm|]. apply bpow_le. unfold last_bit. destruct (Z.eqb_spec n 0); lia. }
  assert (F : (p c <= Z.max (l + ex) (emin c) - ex)%Z).
  { assert (emin c - p c <= ex)%Z by (unfold ex, last_bit; destruct (n =? 0)%Z; lia).
    destruct (Z_le_gt_dec (p c) l); [lia|].
    (* a number with fewer bits is subnormal *)
    assert (ex = emin c - p c)%Z; [|lia].
    destruct (Z.eq_dec ex (emin c - p c)) as [|NE]; auto. exfalso.
    assert (N : n <> 0%Z) by (intros ->; apply NE; unfold ex, last_bit; simpl; lia).
    assert (EX : ex = (Z.log2 (Z.abs n) + u - p c)%Z) by (unfold ex, last_bit in *; destruct (Z.eqb_spec n 0); lia).
    assert (G : bp (Z.log2 (Z.abs n) + u) <= Rabs (flt_rnd c (IZR n * bp u))).
    { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply abs_round_ge_generic; auto with typeclass_instances.
      - apply generic_format_FLT_bpow; auto. lia.
      - pose proof (log2_mag n u N) as M. assert (X : IZR n * bp u <> 0).
        { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
        destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in M. subst mm. specialize (Hm X).
        replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. apply Hm. }
    destruct (round_div_log2 c n u R) as [_ U]. fold ex in U. fold r in U. fold l in U.
    assert (bp (l + ex + 1) <= bp (Z.log2 (Z.abs n) + u)) by (apply bpow_le; lia). lra. }
  destruct (Z.eq_dec (Z.abs r) (2 ^ (p c + 1))) as [E|E].
  - assert (l = p c + 1)%Z. { unfold l. rewrite E. apply Z.log2_pow2. lia. }
    assert (FF : (p c + 1 <= Z.max (l + ex) (emin c) - ex)%Z) by lia.
    apply Rle_trans with (bp (p c + 1) * bp (- (p c + 1))).
    + rewrite E, <- bp_Z by lia. apply Rmult_le_compat_l; [apply bpow_ge_0|]. apply bpow_le. lia.
    + rewrite <- bpow_plus. replace (p c + 1 + - (p c + 1))%Z with 0%Z by lia. simpl. lra.
  - apply Rle_trans with (IZR (2 ^ (p c + 1) - 1) * bp (- p c)).
    + apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. lia.
    + rewrite minus_IZR, <- bp_Z by lia. lra.
Qed.

(** * Claims about units: words in, a word out; side conditions are booleans of the parameters *)

(** What is known of every product of two words, and of every c, of the first block or a later one. *)
Definition is_product (fa fb : format) (v : val) : Prop := exists wa wb, v = product (decode fa wa) (decode fb wb).

Definition good_c (d : sum) (fc : format) (v : val) : Prop :=
  forall x, v = Num x -> fits' (number_shape (Z.max (fbits fc) (p (out d)))) x /\ (Z.min (least fc) (emin (out d)) <= exp x)%Z.

Lemma product_num a b x : product a b = Num x -> exists y z, a = Num y /\ b = Num z /\ x = times y z.
Proof.
  destruct a as [y| |], b as [z| |]; simpl; try easy; try (destruct (is_zero _); easy).
  intros H. injection H as <-. eauto.
Qed.

Lemma decode_good d f w : format_ok f = true -> (0 <= p (out d))%Z -> good_c d f (decode f w).
Proof.
  intros O P x H. split. apply decode_fits with f w; auto. lia. destruct (decode_num _ _ _ O H) as [_ [_ [L _]]]. lia.
Qed.

Lemma convert_exp_min c s n u z : convert c s n u = Num z -> (0 <= p c)%Z -> (Z.min (emin c) (emax c) <= exp z)%Z.
Proof.
  unfold convert. destruct (_ || _). { intros H; injection H as <-; simpl; lia. }
  destruct (_ <? _)%Z; [destruct (_ || _); [easy|]|]; intros H; injection H as <-; simpl; lia.
Qed.

Lemma sum_good d fc vs : (0 <= p (out d))%Z -> (emin (out d) <= emax (out d))%Z -> good_c d fc (sum_values d vs).
Proof.
  intros P M x H. unfold sum_values in H. destruct (numbers vs) as [ts|]; [|exfalso; now apply (special_not_num vs x)].
  unfold sum_numbers in H. split. eapply convert_fits; eauto. lia. pose proof (convert_exp_min _ _ _ _ _ H P). lia.
Qed.

(** Two designs give the same on a chain if they do on every block. *)
Lemma chain_ext d d' (Q : list val -> val -> Prop) (C : val -> Prop) bs :
  (forall ps c, Q ps c -> C c -> sum_values d (ps ++ [c]) = sum_values d' (ps ++ [c])) ->
  (forall ps c, C (sum_values d (ps ++ [c]))) ->
  (forall ps, In ps bs -> forall c, Q ps c) -> forall c, C c -> chain d bs c = chain d' bs c.
Proof.
  intros E K. unfold chain. induction bs as [|b r IH]; simpl; intros H c Hc; auto.
  rewrite <- (E b c); auto.
Qed.

Definition blocks_of (fa fb : format) (n : nat) (bs : list (list val)) : Prop :=
  Forall (fun ps => (length ps <= n)%nat /\ Forall (is_product fa fb) ps) bs.

Lemma cut_list_blocks {A} (P : A -> Prop) n : (0 < n)%nat -> forall k l, Forall P l ->
  Forall (fun b => (length b <= n)%nat /\ Forall P b) (cut_list k n l).
Proof.
  intros Hn. induction k; intros l H; simpl; auto. destruct l as [|a l]; auto. apply Forall_cons.
  - split. { rewrite firstn_length. lia. } rewrite Forall_forall in *. intros x Hx. apply H.
    rewrite <- (firstn_skipn n (a :: l)). apply in_or_app. auto.
  - apply IHk. rewrite Forall_forall in *. intros x Hx. apply H. rewrite <- (firstn_skipn n (a :: l)). apply in_or_app. auto.
Qed.

Lemma products_blocks fa fb n ws : (0 < n)%nat -> blocks_of fa fb n (cut_list (length ws) n (products fa fb ws)).
Proof.
  intros Hn. apply cut_list_blocks; auto. apply Forall_forall. intros v Hv. unfold products in Hv.
  apply in_map_iff in Hv. destruct Hv as [[wa wb] [<- _]]. now exists wa, wb.
Qed.

(** Terms of one block, where all are numbers. *)
Lemma block_terms_inv fa fb ps c ts : Forall (is_product fa fb) ps -> numbers (ps ++ [c]) = Some ts ->
  exists us x, ts = us ++ [x] /\ c = Num x /\ length us = length ps /\
    Forall (fun t => exists y z wa wb, decode fa wa = Num y /\ decode fb wb = Num z /\ t = times y z) us.
Proof.
  intros F H. unfold numbers in H. destruct (forallb is_num (ps ++ [c])) eqn:B; [|easy]. injection H as <-.
  rewrite forallb_app in B. apply andb_prop in B. destruct B as [B1 B2]. simpl in B2. rewrite andb_true_r in B2.
  destruct c as [x| |]; try easy. exists (map num_of ps), x. rewrite map_app. repeat split; auto. now rewrite map_length.
  clear B2. induction F as [|v r [wa [wb E]] F IH]; simpl in *; constructor.
  - apply andb_prop in B1. destruct B1 as [B1 _]. destruct v as [t| |]; try easy. symmetry in E. simpl.
    apply product_num in E. destruct E as [y [z [E1 [E2 E3]]]]. exists y, z, wa, wb. auto.
  - apply andb_prop in B1. apply IH. apply B1.
Qed.

(** ** Carry bits *)

Definition with_carry (d : sum) (k : option Z) : sum :=
  {| fraction_bits := fraction_bits d; alignment := alignment d; zero_exponent := zero_exponent d; carry_bits := k;
     normalise := normalise d; out := out d |}.

Definition plain_sum (d : sum) : bool :=
  match alignment d with RZ => true | _ => false end && negb (normalise d) && (0 <=? p (out d))%Z && (emin (out d) <=? emax (out d))%Z &&
  match fraction_bits d with Some f => (0 <=? f)%Z | None => false end.

Definition shapes (d : sum) (n : nat) (fa fb fc : format) : list shape :=
  repeat (product_shape fa fb) n ++ [number_shape (Z.max (fbits fc) (p (out d)))].

Definition carry_claim (d : sum) (n : nat) (fa fb fc : format) (k : Z) : bool :=
  plain_sum d && format_ok fa && format_ok fb && format_ok fc && (0 <=? k)%Z && (0 <? Z.of_nat n)%Z &&
  match fraction_bits d with Some f => carry_ok f k (shapes d n fa fb fc) | None => false end.

Lemma zsum_repeat t n : zsum (repeat t n) = (Z.of_nat n * t)%Z.
Proof.
  induction n as [|n IH]; [reflexivity|]. change (repeat t (S n)) with (t :: repeat t n).
  change (zsum (t :: repeat t n)) with (t + zsum (repeat t n))%Z. rewrite IH. lia.
Qed.

Lemma map_repeat' {A B} (g : A -> B) t n : map g (repeat t n) = repeat (g t) n.
Proof. induction n; simpl; congruence. Qed.

Lemma product_shape_nonneg fa fb : format_ok fa = true -> format_ok fb = true -> (0 <= fst (product_shape fa fb))%Z.
Proof.
  unfold format_ok. intros A B. apply andb_prop in A. apply andb_prop in B. unfold product_shape, fst.
  pose proof (pow2_pos (fbits fa + 1) ltac:(lia)). pose proof (pow2_pos (fbits fb + 1) ltac:(lia)).
  apply Z.mul_nonneg_nonneg; lia.
Qed.

Theorem dot_carry d n fa fb fc fd nan k ws c :
  carry_claim d n fa fb fc k = true ->
  dot (with_carry d (Some k)) n fa fb fc fd nan ws c = dot (with_carry d None) n fa fb fc fd nan ws c.
Proof.
  intros O. unfold carry_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[PS Oa] Ob] Oc] K] Hn] O].
  unfold plain_sum in PS. repeat rewrite andb_true_iff in PS. destruct PS as [[[[A Nn] P] M] F0].
  destruct (alignment d) eqn:Al; try easy. apply negb_true_iff in Nn. destruct (fraction_bits d) as [f|] eqn:F; [|easy].
  unfold dot. f_equal.
  apply chain_ext with (Q := fun ps _ => (length ps <= n)%nat /\ Forall (is_product fa fb) ps) (C := good_c d fc).
  - intros ps v [L Fp] G. unfold sum_values. destruct (numbers (ps ++ [v])) as [ts|] eqn:Nu; auto.
    destruct (block_terms_inv _ _ _ _ _ Fp Nu) as [us [x [-> [-> [Lu Fu]]]]].
    assert (T : exact_total (with_carry d (Some k)) (us ++ [x])).
    { apply carry_suffices' with f k (shapes d (length us) fa fb fc); auto; try lia.
      - unfold carry_ok in *. apply Z.ltb_lt in O. apply Z.ltb_lt. eapply Z.le_lt_trans; [|exact O].
        unfold shapes. rewrite !map_app, !zsum_app, !map_repeat', !zsum_repeat. simpl map.
        pose proof (top_nonneg f _ (product_shape_nonneg fa fb Oa Ob)). apply Z.add_le_mono_r. apply Z.mul_le_mono_nonneg_r; auto. lia.
      - unfold shapes. apply Forall2_app.
        + clear -Fu Oa Ob. induction Fu as [|t r [y [z [wa [wb [E1 [E2 ->]]]]]] Fu IH]; simpl; constructor; auto.
          eapply product_fits; eauto.
        + constructor; auto. now apply G. }
    unfold sum_numbers. rewrite T. unfold total at 1 2. simpl. reflexivity.
  - intros ps v. apply (sum_good (with_carry d (Some k)) fc); simpl; lia.
  - intros ps Hps v. pose proof (products_blocks fa fb n ws ltac:(lia)) as B. unfold blocks_of in B. rewrite Forall_forall in B. auto.
  - apply decode_good; auto. lia.
Qed.

(** ** The exponent of zeros *)

Definition zero_claim (d : sum) (n : nat) (fa fb fc : format) : bool :=
  negb (normalise d) && (0 <=? p (out d))%Z && (emin (out d) <=? emax (out d))%Z && carry_sane d && (0 <? Z.of_nat n)%Z &&
  format_ok fa && format_ok fb && format_ok fc &&
  zero_below d (Z.min (least fa + least fb) (Z.min (least fc) (emin (out d)))).

Theorem dot_zero_exponent d n fa fb fc fd nan ws c :
  zero_claim d n fa fb fc = true -> dot d n fa fb fc fd nan ws c = dot (with_zero d ZeroNone) n fa fb fc fd nan ws c.
Proof.
  intros O. unfold zero_claim in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[Nn P] M] Cs] Hn] Oa] Ob] Oc] O]. apply negb_true_iff in Nn. unfold dot. f_equal.
  apply chain_ext with (Q := fun ps _ => (length ps <= n)%nat /\ Forall (is_product fa fb) ps) (C := good_c d fc).
  - intros ps v [_ Fp] G. unfold sum_values. destruct (numbers (ps ++ [v])) as [ts|] eqn:Nu; auto.
    destruct (block_terms_inv _ _ _ _ _ Fp Nu) as [us [x [-> [-> [Lu Fu]]]]].
    eapply zero_exponent_irrelevant; eauto. apply Forall_app. split.
    + clear -Fu Oa Ob. induction Fu as [|t r [y [z [wa [wb [E1 [E2 ->]]]]]] Fu IH]; constructor; auto.
      destruct (decode_num _ _ _ Oa E1) as [_ [_ [L1 _]]]. destruct (decode_num _ _ _ Ob E2) as [_ [_ [L2 _]]].
      intros _. simpl. lia.
    + constructor; auto. intros _. destruct (G x eq_refl) as [_ L]. lia.
  - intros ps v. apply sum_good; lia.
  - intros ps Hps v. pose proof (products_blocks fa fb n ws ltac:(lia)) as B. unfold blocks_of in B. rewrite Forall_forall in B. auto.
  - apply decode_good; auto. lia.
Qed.

(** ** The error bound, in words of the inputs: terms are the numbers that words decode to *)

Definition term_of (fa fb : format) (w : Z * Z) : num := times (num_of (decode fa (fst w))) (num_of (decode fb (snd w))).
Definition finite_pair (fa fb : format) (w : Z * Z) : bool := is_num (decode fa (fst w)) && is_num (decode fb (snd w)).

Lemma products_finite fa fb ws : forallb (finite_pair fa fb) ws = true -> products fa fb ws = map Num (map (term_of fa fb) ws).
Proof.
  unfold products. rewrite map_map. intros H. apply map_ext_in. intros w Hw. rewrite forallb_forall in H. specialize (H w Hw).
  unfold finite_pair in H. apply andb_prop in H. unfold term_of.
  destruct (decode fa (fst w)), (decode fb (snd w)); easy.
Qed.

Lemma cut_list_map {A B} (g : A -> B) n : forall k l, cut_list k n (map g l) = map (map g) (cut_list k n l).
Proof.
  induction k; intros l; simpl; auto. destruct l; auto. change (map g (a :: l)) with (g a :: map g l). cbv iota.
  change (g a :: map g l) with (map g (a :: l)). rewrite firstn_map, skipn_map, IHk. reflexivity.
Qed.

Lemma cut_list_sum {A} (g : A -> R) n : (0 < n)%nat -> forall k l, (length l <= k)%nat ->
  Rsum (map (fun b => Rsum (map g b)) (cut_list k n l)) = Rsum (map g l).
Proof.
  intros Hn. induction k; intros l L; destruct l as [|a l]; simpl in L; try lia; try reflexivity.
  change (cut_list (S k) n (a :: l)) with (firstn n (a :: l) :: cut_list k n (skipn n (a :: l))).
  cbn [map Rsum fold_right]. fold (Rsum (map (fun b => Rsum (map g b)) (cut_list k n (skipn n (a :: l))))).
  rewrite IHk. 2: { rewrite skipn_length. cbn [length]. lia. }
  rewrite <- Rsum_app, <- map_app, firstn_skipn. reflexivity.
Qed.

Definition error_claim (d : sum) (n : nat) : bool :=
  plain (out d) && (0 <? Z.of_nat n)%Z && match carry_bits d with None => true | _ => false end &&
  match fraction_bits d with None => false | _ => true end.

(** For all words: where the result of every block is finite (that of the last one is, else the value of d is no
    number), and E is at least the exponent of every term other than zero and of every zero that takes part:
    |d - (sum of a_k b_k + c)| <= sum over blocks of (L * 2^(E-F) + ulp of the block's result). *)
Theorem dot_error d n fa fb fc ws c x z f E :
  error_claim d n = true -> fraction_bits d = Some f ->
  forallb (finite_pair fa fb) ws = true -> decode fc c = Num x ->
  chain d (cut_list (length ws) n (products fa fb ws)) (decode fc c) = Num z ->
  exists zs, let bs := cut_list (length ws) n (map (term_of fa fb) ws) in
    run d bs x = Some zs /\ last zs x = z /\
    (below d E bs x zs ->
     Rabs (V z - (V x + Rsum (map (fun w => V (term_of fa fb w)) ws))) <= stated d E f bs zs).
Proof.
  intros O F Fi Dc H. unfold error_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[[P Hn] K] _].
  rewrite products_finite, Dc, cut_list_map in H by auto.
  destruct (chain_run _ _ _ _ H) as [zs [R L]]. exists zs. cbv zeta. repeat split; auto. intros B. rewrite <- L.
  replace (Rsum (map (fun w => V (term_of fa fb w)) ws)) with
    (Rsum (map exact_sum (cut_list (length ws) n (map (term_of fa fb) ws)))).
  - apply chain_error_E; auto. clear R L B H. revert zs. generalize x as y.
    induction (cut_list (length ws) n (map (term_of fa fb) ws)) as [|b r IH]; intros y zs; simpl; auto.
    destruct zs; auto. split; auto. apply no_carry_exact. now destruct (carry_bits d).
  - unfold exact_sum. rewrite cut_list_sum, map_map; auto. lia. now rewrite map_length.
Qed.

(** ** (a) again: where the largest term loses nothing, L is one less than the number of terms *)

Lemma lossy_bound_less d ts f E :
  fraction_bits d = Some f -> normalise d = false -> ts <> [] -> Forall (fun x => (frac x <= f)%Z) ts -> ole (largest d ts) (Some E) ->
  IZR (lossy (unit_of d ts) ts) * bp (unit_of d ts) <= IZR (Z.of_nat (length ts) - 1) * bp (E - f).
Proof.
  intros F Nn NE W L. unfold unit_of. rewrite F.
  assert (N1 : (1 <= Z.of_nat (length ts))%Z) by (destruct ts; [easy|simpl length; lia]).
  destruct (largest d ts) as [e|] eqn:Q; simpl in L; cbv beta iota.
  - assert (B : (0 <= lossy (e - f) ts <= Z.of_nat (length ts) - 1)%Z).
    { split; [apply lossy_le|]. destruct (largest_attained d ts e Q) as [x [Hx Ex]].
      assert (X : negb (is_zero x) && (lsb x <? e - f)%Z = false).
      { unfold term_exponent in Ex. destruct (is_zero x); auto. rewrite Nn in Ex. injection Ex as Ex.
        rewrite Forall_forall in W. specialize (W x Hx). cbn [negb andb]. apply Z.ltb_ge. unfold lsb. lia. }
      unfold lossy. apply in_split in Hx. destruct Hx as [a [b ->]]. rewrite filter_app, !app_length. cbn [filter length]. rewrite X.
      assert (G : forall l : list num, (length (filter (fun x => negb (is_zero x) && (lsb x <? e - f)%Z) l) <= length l)%nat).
      { induction l; cbn [filter length]; auto.
        match goal with |- context [if ?b then _ else _] => destruct b end; cbn [length]; lia. }
      pose proof (G a). pose proof (G b). lia. }
    apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. lia.
  - assert (A : forall l, (forall x, In x l -> is_zero x = true) -> lossy 0 l = 0%Z).
    { unfold lossy. induction l as [|a l IH]; simpl; intros Hl; auto. rewrite Hl by auto. simpl. apply IH. auto. }
    rewrite A by (intros x; now apply (largest_none d)). rewrite Rmult_0_l.
    apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0].
Qed.

Theorem block_error_less d ts z f E :
  plain (out d) = true -> exact_total d ts -> sum_numbers d ts = Num z -> fraction_bits d = Some f -> normalise d = false ->
  ts <> [] -> Forall (fun x => (frac x <= f)%Z) ts -> ole (largest d ts) (Some E) ->
  Rabs (V z - exact_sum ts) < IZR (Z.of_nat (length ts) - 1) * bp (E - f) + Rulp (out d) (V z).
Proof.
  intros P T H F Nn NE W L. eapply Rlt_le_trans; [eapply block_error_lossy; eassumption|]. apply Rplus_le_compat_r.
  eapply lossy_bound_less; eassumption.
Qed.

(** ** (f) Negation of a whole chain, special values included *)

Lemma opposite_numbers vs ws : Forall2 opposite_val vs ws ->
  match numbers vs, numbers ws with Some ts, Some us => Forall2 opposite ts us | None, None => True | _, _ => False end.
Proof.
  unfold numbers. intros H.
  assert (B : forallb is_num vs = forallb is_num ws).
  { induction H as [|v w vs ws Hv H IH]; simpl; auto. rewrite IH. f_equal. destruct v, w; easy. }
  rewrite <- B. destruct (forallb is_num vs) eqn:Q; auto. clear B.
  induction H as [|v w vs ws Hv H IH]; simpl in *; constructor; apply andb_prop in Q; destruct Q as [Q1 Q2]; auto.
  destruct v, w; easy.
Qed.

Lemma existsb_2 {A B} (R : A -> B -> Prop) (q : A -> bool) (q' : B -> bool) l l' :
  Forall2 R l l' -> (forall x y, R x y -> q x = q' y) -> existsb q l = existsb q' l'.
Proof. induction 1; simpl; intros Q; auto. rewrite IHForall2; auto. now rewrite (Q _ _ H). Qed.

Lemma existsb_3 (q q' r : val -> bool) l : (forall v, q v || q' v || r v = negb (is_num v)) -> forallb is_num l = false ->
  existsb q l || existsb q' l || existsb r l = true.
Proof.
  intros H. induction l as [|v l IH]; simpl; [easy|]. intros B. specialize (H v). destruct (is_num v); simpl in *.
  - rewrite <- (IH B). destruct (q v), (q' v), (r v); try easy.
  - destruct (q v), (q' v), (r v); simpl in *; try easy; now rewrite ?orb_true_r.
Qed.

Lemma opposite_special vs ws : Forall2 opposite_val vs ws -> numbers vs = None -> opposite_val (special_sum vs) (special_sum ws).
Proof.
  intros H N. assert (B : forallb is_num vs = false) by (unfold numbers in N; destruct (forallb is_num vs); easy).
  unfold special_sum.
  set (nan := fun v => match v with NaN => true | _ => false end).
  set (pos := fun v => match v with Inf false => true | _ => false end).
  set (min := fun v => match v with Inf true => true | _ => false end).
  assert (E1 : existsb nan ws = existsb nan vs).
  { symmetry. apply existsb_2 with (R := opposite_val); auto. intros [?|?|] [?|?|]; easy. }
  assert (E2 : existsb pos ws = existsb min vs).
  { symmetry. apply existsb_2 with (R := opposite_val); auto. intros [?|[]|] [?|[]|]; simpl; easy. }
  assert (E3 : existsb min ws = existsb pos vs).
  { symmetry. apply existsb_2 with (R := opposite_val); auto. intros [?|[]|] [?|[]|]; simpl; easy. }
  pose proof (existsb_3 nan pos min vs ltac:(intros [?|[]|]; reflexivity) B) as S.
  rewrite E1, E2, E3. destruct (existsb nan vs), (existsb pos vs), (existsb min vs); simpl in *; easy.
Qed.

Definition negation_claim (d : sum) : bool :=
  symmetric (alignment d) && symmetric (rho (out d)) && match carry_bits d with None => true | _ => false end.

Theorem sum_negation d vs ws : negation_claim d = true -> Forall2 opposite_val vs ws ->
  opposite_val (sum_values d vs) (sum_values d ws).
Proof.
  intros O H. unfold negation_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[A R] K].
  assert (C : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values. pose proof (opposite_numbers _ _ H) as N.
  destruct (numbers vs) as [ts|] eqn:E, (numbers ws) as [us|] eqn:E'; try easy.
  - apply negation; auto using no_carry_exact.
  - now apply opposite_special.
Qed.

Theorem chain_negation d bs bs' : negation_claim d = true -> Forall2 (Forall2 opposite_val) bs bs' ->
  forall c c', opposite_val c c' -> opposite_val (chain d bs c) (chain d bs' c').
Proof.
  intros O. unfold chain. induction 1 as [|b b' r r' Hb H IH]; simpl; intros c c' Hc; auto.
  apply IH. apply sum_negation; auto. apply Forall2_app; auto.
Qed.

(** ** (h) The region of agreement over one block: as a claim *)

Definition region_claim (d d' : sum) (s w : Z) : bool :=
  spread_ok d s w && spread_ok d' s w && match carry_bits d, carry_bits d' with None, None => true | _, _ => false end.

Theorem region_block d d' s w ts : out d = out d' -> region_claim d d' s w = true ->
  within_spread d s ts -> within_spread d' s ts -> Forall (fun x => is_zero x = false -> (frac x <= w)%Z) ts ->
  sum_values d (map Num ts) = sum_values d' (map Num ts).
Proof.
  intros Ho O. unfold region_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[O1 O2] K].
  intros. rewrite !sum_values_num. destruct (carry_bits d) eqn:K1; try easy. destruct (carry_bits d') eqn:K2; try easy.
  now apply region with s w.
Qed.


(** ** Words of results: what is encoded is decoded again *)

(** What a conversion's numbers look like. *)
Lemma convert_shape c s n u z : (0 <= p c)%Z -> (emin c <= emax c)%Z -> convert c s n u = Num z ->
  (emin c <= exp z <= emax c)%Z /\
  ((frac z = p c /\ (0 <= sig z < 2 ^ (p c + 1))%Z /\ (exp z = emin c \/ 2 ^ p c <= sig z)%Z) \/
   (frac z = p c + 1 /\ sig z = 2 ^ (p c + 1))%Z).
Proof.
  intros P M H. unfold convert in H. set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  pose proof (pow2_pos (p c) P) as P2. pose proof (pow2_pos (p c + 1) ltac:(lia)) as P3.
  assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  destruct ((r =? 0)%Z || _) eqn:Z0; [injection H as <-; cbn [sig frac exp]; split; [lia|]; left; repeat split; auto; lia|].
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
  { cbv zeta in H. match type of H with (if ?b then _ else _) = _ => destruct b end; [easy|].
    injection H as <-. cbn [sig frac exp]. split; [lia|]. left. repeat split; auto; lia. }
  injection H as <-. cbn [sig frac exp].
  assert (R : r <> 0%Z) by (intros E; rewrite E in Z0; easy).
  set (l := Z.log2 (Z.abs r)) in *. destruct (Z.log2_spec (Z.abs r)) as [L1 L2]; [lia|]. fold l in L1, L2.
  assert (L0 : (0 <= l)%Z) by apply Z.log2_nonneg. split; [lia|].
  assert (EL : (emin c - p c <= ex)%Z) by (unfold ex, last_bit; destruct (n =? 0)%Z; lia).
  assert (B : (Z.abs r <= 2 ^ (p c + 1))%Z).
  { apply le_IZR. rewrite abs_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp ex); [apply bpow_gt_0|].
    rewrite <- (Rabs_pos_eq (bp ex)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult. unfold r, ex. rewrite round_ok.
    rewrite <- bpow_plus. apply flt_rnd_bound; auto.
    - fold ex. lia.
    - destruct (Z.eq_dec n 0) as [->|N]; [rewrite Rmult_0_l, Rabs_R0; apply bpow_ge_0|].
      pose proof (log2_mag n u N) as G. assert (X : IZR n * bp u <> 0).
      { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
      destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in G. subst mm. specialize (Hm X).
      apply Rlt_le. eapply Rlt_le_trans; [apply Hm|]. apply bpow_le. unfold last_bit. destruct (Z.eqb_spec n 0); lia. }
  assert (F : (l < p c)%Z -> ex = (emin c - p c)%Z).
  { intros Lp. destruct (Z.eq_dec ex (emin c - p c)) as [|NE]; auto. exfalso.
    assert (N : n <> 0%Z) by (intros ->; apply NE; unfold ex, last_bit; simpl; lia).
    assert (EX : ex = (Z.log2 (Z.abs n) + u - p c)%Z) by (unfold ex, last_bit in *; destruct (Z.eqb_spec n 0); lia).
    assert (G : bp (Z.log2 (Z.abs n) + u) <= Rabs (flt_rnd c (IZR n * bp u))).
    { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply abs_round_ge_generic; auto with typeclass_instances.
      - apply generic_format_FLT_bpow; auto. lia.
      - pose proof (log2_mag n u N) as G. assert (X : IZR n * bp u <> 0).
        { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
        destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in G. subst mm. specialize (Hm X).
        replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. apply Hm. }
    destruct (round_div_log2 c n u R) as [_ U]. fold ex in U. fold r in U. fold l in U.
    assert (bp (l + ex + 1) <= bp (Z.log2 (Z.abs n) + u)) by (apply bpow_le; lia). lra. }
  destruct (Z.eq_dec (Z.abs r) (2 ^ (p c + 1))) as [E|E].
  - right. assert (l = p c + 1)%Z. { unfold l. rewrite E. apply Z.log2_pow2. lia. } split; [lia|auto].
  - left. assert (LP : (l <= p c)%Z). { assert (l < p c + 1)%Z; [|lia]. apply Z.pow_lt_mono_r_iff with 2%Z; lia. }
    destruct (Z_lt_ge_dec l (p c)) as [h|h].
    + specialize (F h). split; [lia|]. split; [lia|]. left. lia.
    + assert (l = p c) by lia. split; [lia|]. split; [lia|]. right. rewrite <- H. exact L1.
Qed.

Definition holds (fd : format) (c : conversion) : bool :=
  match special fd with IEEE => true | _ => false end && has_sign fd && has_zero fd && subnormals fd && (ignored fd =? 0)%Z &&
  (0 <=? p c)%Z && (p c <=? fbits fd)%Z && (emin c =? 1 - bias fd)%Z && (emax c =? 2 ^ ebits fd - 2 - bias fd)%Z && (2 <=? ebits fd)%Z.

(** The fraction of a number, counted in the format's last bits. *)
Lemma fraction_ok c s n u z fd : holds fd c = true -> convert c s n u = Num z ->
  let t := round_div RZ (sig z) (frac z - fbits fd) in
  (0 <= t < 2 * 2 ^ fbits fd)%Z /\ (exp z = emin c \/ 2 ^ fbits fd <= t)%Z /\ IZR t * bp (- fbits fd) = IZR (sig z) * bp (- frac z).
Proof.
  intros O H t. unfold holds in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[_ _] _] _] _] P] Pf] Em] Ex] Eb].
  apply Z.leb_le in P, Pf, Eb. apply Z.eqb_eq in Em, Ex.
  assert (EE : (4 <= 2 ^ ebits fd)%Z) by (change 4%Z with (2 ^ 2)%Z; apply Z.pow_le_mono_r; lia).
  destruct (convert_shape _ _ _ _ _ P ltac:(lia) H) as [_ [[F [S L]]|[F S]]].
  - assert (T : t = (sig z * 2 ^ (fbits fd - p c))%Z).
    { unfold t. rewrite round_div_unfold, F. destruct (Z.leb_spec (p c - fbits fd) 0); [|lia]. do 2 f_equal. lia. }
    assert (D : (2 ^ fbits fd = 2 ^ p c * 2 ^ (fbits fd - p c))%Z) by (rewrite <- Z.pow_add_r; [f_equal|..]; lia).
    assert (D1 : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
    pose proof (pow2_pos (fbits fd - p c) ltac:(lia)). rewrite T, D. split; [nia|]. split; [destruct L; [auto|right; nia]|].
    rewrite F, mult_IZR, <- (bp_Z (fbits fd - p c)), Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
  - assert (T : t = (2 ^ fbits fd)%Z).
    { unfold t. rewrite F, S. destruct (Z_le_gt_dec (p c + 1) (fbits fd)).
      - rewrite round_div_unfold. destruct (Z.leb_spec (p c + 1 - fbits fd) 0); [|lia]. rewrite <- Z.pow_add_r by lia. f_equal. lia.
      - replace (p c + 1 - fbits fd)%Z with 1%Z by lia. replace (p c + 1)%Z with (fbits fd + 1)%Z by lia.
        rewrite round_div_unfold. destruct (Z.leb_spec 1 0); [lia|].
        rewrite Z.pow_add_r, Z.mod_mul, Z.div_mul by lia. reflexivity. }
    pose proof (pow2_pos (fbits fd) ltac:(lia)). rewrite T. split; [lia|]. split; [right; lia|].
    rewrite F, S, <- !bp_Z, <- !bpow_plus by lia. f_equal. lia.
Qed.

Theorem encode_decode c s n u z fd nan : holds fd c = true -> convert c s n u = Num z ->
  exists y, decode fd (encode fd nan (Num z)) = Num y /\ V y = V z /\ neg y = neg z /\ exp y = exp z.
Proof.
  intros O H. destruct (fraction_ok _ _ _ _ _ _ O H) as [T [L Q]]. unfold holds in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[Sp Hs] Hz] Sb] Ig] P] Pf] Em] Ex] Eb].
  apply Z.leb_le in P, Pf, Eb. apply Z.eqb_eq in Em, Ex, Ig. destruct (special fd) eqn:Spec; try easy.
  assert (EE : (4 <= 2 ^ ebits fd)%Z) by (change 4%Z with (2 ^ 2)%Z; apply Z.pow_le_mono_r; lia).
  destruct (convert_shape _ _ _ _ _ P ltac:(lia) H) as [Er _]. clear H.
  set (t := round_div RZ (sig z) (frac z - fbits fd)) in *. set (fb := fbits fd) in *.
  pose proof (pow2_pos fb ltac:(lia)) as P2. set (b := (2 ^ fb)%Z) in *.
  set (field := if (t <? b)%Z then 0%Z else (exp z + bias fd)%Z). set (tf := if (t <? b)%Z then t else (t - b)%Z).
  set (w := (((if neg z then 2 ^ ebits fd else 0) + field) * b + tf)%Z).
  assert (W : encode fd nan (Num z) = w).
  { unfold encode. fold fb. fold t. fold b. rewrite Ig. unfold w, field, tf. destruct (t <? b)%Z; simpl; lia. }
  rewrite W.
  assert (Fr : (0 <= field <= 2 ^ ebits fd - 2)%Z) by (unfold field; destruct (Z.ltb_spec t b); lia).
  assert (Tr : (0 <= tf < b)%Z) by (unfold tf; destruct (Z.ltb_spec t b); lia).
  assert (C : (2 ^ (ebits fd + fb) = 2 ^ ebits fd * b)%Z) by (unfold b; rewrite <- Z.pow_add_r; [f_equal|..]; lia).
  set (E2 := (2 ^ ebits fd)%Z) in *.
  assert (Cr : (0 <= field * b + tf < E2 * b)%Z) by nia.
  assert (D1 : (w / (E2 * b) = if neg z then 1 else 0)%Z).
  { symmetry. apply Z.div_unique with (field * b + tf)%Z; [left; auto|]. unfold w. destruct (neg z); ring. }
  assert (D2 : (w mod (E2 * b) = field * b + tf)%Z).
  { rewrite Z.mod_eq, D1 by nia. unfold w. destruct (neg z); ring. }
  assert (D3 : ((field * b + tf) / b = field)%Z) by (symmetry; apply Z.div_unique with tf; [left; auto|ring]).
  assert (D4 : ((field * b + tf) mod b = tf)%Z) by (rewrite Z.mod_eq, D3 by lia; ring).
  unfold decode. rewrite Ig, Z.pow_0_r, Z.div_1_r. fold fb. rewrite C, D1, D2. fold b. rewrite D3, D4, Spec, Hs, Hz, Sb. fold E2.
  destruct (Z.eqb_spec field (E2 - 1)); [lia|]. cbv zeta. rewrite andb_true_r.
  assert (Sg : (true && ((if neg z then 1 else 0) =? 1)%Z) = neg z) by now destruct (neg z). rewrite Sg.
  assert (Val : forall sg e, IZR sg * bp (- fb) = IZR (sig z) * bp (- frac z) -> e = exp z ->
            IZR (if neg z then (- sg)%Z else sg) * bp (e - fb) = V z).
  { intros sg e Hsg ->. unfold V, signed, lsb. replace (exp z - fb)%Z with (- fb + exp z)%Z by lia.
    replace (exp z - frac z)%Z with (- frac z + exp z)%Z by lia. rewrite !bpow_plus, <- !Rmult_assoc.
    destruct (neg z); rewrite ?opp_IZR, ?Ropp_mult_distr_l_reverse; now rewrite Hsg. }
  unfold field, tf in *. destruct (Z.ltb_spec t b) as [h|h].
  - eexists. split; [reflexivity|]. cbn [neg exp]. assert (exp z = emin c) by (destruct L; auto; lia).
    split; [|split; [auto|lia]]. unfold V at 1, signed, lsb. cbn [neg sig exp frac]. apply Val; auto. lia.
  - destruct (Z.eqb_spec (exp z + bias fd) 0); [lia|]. eexists. split; [reflexivity|]. cbn [neg exp].
    split; [|split; [auto|lia]]. unfold V at 1, signed, lsb. cbn [neg sig exp frac]. apply Val; [|lia].
    replace (t - b + b)%Z with t by ring. auto.
Qed.

Lemma chain_convert d bs c z : bs <> [] -> chain d bs c = Num z -> exists s n u, convert (out d) s n u = Num z.
Proof.
  intros N H. destruct (exists_last N) as [bs' [b ->]]. unfold chain in H. rewrite fold_left_app in H. simpl in H.
  unfold sum_values in H. destruct (numbers _); [|exfalso; now apply (special_not_num _ _ H)].
  unfold sum_numbers in H. eauto.
Qed.

(** The word that a unit gives stands for the number that the theorems are about. *)
Theorem dot_word d n fa fb fc fd nan ws c z : holds fd (out d) = true -> ws <> [] ->
  chain d (cut_list (length ws) n (products fa fb ws)) (decode fc c) = Num z ->
  exists y, decode fd (dot d n fa fb fc fd nan ws c) = Num y /\ V y = V z.
Proof.
  intros O N H. unfold dot. rewrite H.
  assert (B : cut_list (length ws) n (products fa fb ws) <> []).
  { destruct ws as [|w r]; [easy|]. intros Q. simpl in Q. discriminate Q. }
  destruct (chain_convert _ _ _ _ B H) as [s [m [u C]]].
  destruct (encode_decode _ _ _ _ _ _ nan O C) as [y [Y [Vy _]]]. eauto.
Qed.

(** ** (g) again, from words to words: Ozaki's slices *)

Lemma V_times x y : V (times x y) = V x * V y.
Proof.
  unfold V, lsb, signed, times; cbn [neg sig exp frac].
  replace (exp x + exp y - (frac x + frac y))%Z with ((exp x - frac x) + (exp y - frac y))%Z by lia. rewrite bpow_plus.
  destruct (neg x), (neg y); simpl xorb; cbv iota; rewrite ?opp_IZR, mult_IZR; ring.
Qed.

Lemma normal_times x y : normal x -> normal y -> normal (times x y).
Proof.
  intros Nx Ny Z. unfold is_zero, times in Z. cbn [sig] in Z. apply Z.eqb_neq in Z.
  rewrite V_times, Rabs_mult. unfold times. cbn [exp]. rewrite bpow_plus.
  apply Rmult_le_compat; try apply bpow_ge_0; [apply Nx|apply Ny]; unfold is_zero; apply Z.eqb_neq; intros H; rewrite H in Z; lia.
Qed.

(** A word that stands for zero or for a normal number. *)
Definition normal_word (f : format) (w : Z) : bool :=
  match decode f w with Num x => is_zero x || (2 ^ frac x <=? sig x)%Z | _ => false end.

Lemma normal_word_ok f w : format_ok f = true -> normal_word f w = true -> exists x, decode f w = Num x /\ normal x.
Proof.
  intros O H. unfold normal_word in H. destruct (decode f w) as [x| |] eqn:D; try easy. exists x. split; auto.
  intros Z. rewrite Z in H. simpl in H. apply Z.leb_le in H. destruct (decode_num _ _ _ O D) as [_ [F _]].
  assert (0 <= frac x)%Z by (unfold format_ok in O; apply andb_prop in O; lia).
  assert (A : Rabs (V x) = IZR (sig x) * bp (lsb x)).
  { unfold V, signed. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal.
    pose proof (pow2_pos (frac x) ltac:(lia)). destruct (neg x); lia. }
  rewrite A. apply Rle_trans with (bp (frac x) * bp (lsb x)).
  - rewrite <- bpow_plus. apply bpow_le. unfold lsb. lia.
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le.
Qed.

Definition word_value (f : format) (w : Z) : R := V (num_of (decode f w)).

Theorem dot_integers d n fa fb fc fd nan ws c B :
  integers_ok d B = true -> holds fd (out d) = true -> (0 < n)%nat -> ws <> [] ->
  format_ok fa = true -> format_ok fb = true -> format_ok fc = true ->
  forallb (fun w => normal_word fa (fst w) && normal_word fb (snd w)) ws = true -> normal_word fc c = true ->
  Forall (fun w => integer (word_value fa (fst w) * word_value fb (snd w))) ws -> integer (word_value fc c) ->
  Rabs (word_value fc c) + Rsum (map (fun w => Rabs (word_value fa (fst w) * word_value fb (snd w))) ws) <= bp B ->
  exists y, decode fd (dot d n fa fb fc fd nan ws c) = Num y /\
    V y = word_value fc c + Rsum (map (fun w => word_value fa (fst w) * word_value fb (snd w)) ws).
Proof.
  intros O Ho Hn NE Oa Ob Oc Nw Nc Iw Ic M. destruct (normal_word_ok _ _ Oc Nc) as [x [Dc Nx]].
  unfold word_value in Ic, M |- *. rewrite Dc in *. simpl num_of in *.
  assert (Tv : forall w, V (term_of fa fb w) = V (num_of (decode fa (fst w))) * V (num_of (decode fb (snd w)))).
  { intros w. apply V_times. }
  assert (Fin : forallb (finite_pair fa fb) ws = true).
  { apply forallb_forall. intros w Hw. rewrite forallb_forall in Nw. specialize (Nw w Hw). apply andb_prop in Nw.
    destruct Nw as [N1 N2]. unfold finite_pair. destruct (normal_word_ok _ _ Oa N1) as [y [-> _]].
    destruct (normal_word_ok _ _ Ob N2) as [z [-> _]]. reflexivity. }
  set (ts := map (term_of fa fb) ws).
  assert (P : Forall (fun t => integer (V t) /\ normal t) ts).
  { apply Forall_forall. intros t Ht. apply in_map_iff in Ht. destruct Ht as [w [<- Hw]]. split.
    - rewrite Tv. rewrite Forall_forall in Iw. now apply Iw.
    - rewrite forallb_forall in Nw. specialize (Nw w Hw). apply andb_prop in Nw. destruct Nw as [N1 N2].
      destruct (normal_word_ok _ _ Oa N1) as [y [Dy Ny]]. destruct (normal_word_ok _ _ Ob N2) as [z [Dz Nz]].
      unfold term_of. rewrite Dy, Dz. simpl. now apply normal_times. }
  set (bs := cut_list (length ws) n ts).
  assert (Pb : Forall (fun b => (length b <= n)%nat /\ Forall (fun t => integer (V t) /\ normal t) b) bs) by now apply cut_list_blocks.
  destruct (integer_chain d B bs O x) as [z [Hz Vz]]; auto.
  - eapply Forall_impl; [|exact Pb]. intros b [_ H]. eapply Forall_impl; [|exact H]. now intros t [? _].
  - eapply Forall_impl; [|exact Pb]. intros b [_ H]. eapply Forall_impl; [|exact H]. now intros t [_ ?].
  - replace (Rsum (map magnitude bs)) with (Rsum (map (fun w => Rabs (V (num_of (decode fa (fst w))) * V (num_of (decode fb (snd w))))) ws)); auto.
    unfold magnitude, bs. rewrite (cut_list_sum (fun t => Rabs (V t))); auto.
    + unfold ts. rewrite map_map. apply Rsum_ext. intros w _. now rewrite Tv.
    + unfold ts. now rewrite map_length.
  - unfold bs, ts in Hz. rewrite <- cut_list_map, <- products_finite, <- Dc in Hz by auto.
    destruct (dot_word d n fa fb fc fd nan ws c z Ho NE Hz) as [y [Dy Vy]]. exists y. split; auto. rewrite Vy, Vz. f_equal.
    unfold bs, exact_sum. rewrite (cut_list_sum V); auto.
    + unfold ts. rewrite map_map. apply Rsum_ext. intros w _. apply Tv.
    + unfold ts. now rewrite map_length.
Qed.
