(** Words of a circuit as numbers: decoding, products of factors, and the word of a result. *)
From Coq Require Import ZArith List Bool Lia Psatz.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish.
Import ListNotations.
Open Scope Z_scope.

(** * Values as formulas *)

Record shown := Shown { s_nan : formula; s_inf : formula; s_neg : formula; s_sig : term; s_exp : term; s_frac : Z }.

Definition val_of (m : widths) (v : env) (x : shown) : val :=
  if truth m v (s_nan x) then NaN else if truth m v (s_inf x) then Inf (truth m v (s_neg x))
  else Num {| neg := truth m v (s_neg x); sig := value m v (s_sig x); exp := value m v (s_exp x); frac := s_frac x |}.

(** A word, read as the format says. *)
Definition shown_word (f : format) (w : positive) : shown :=
  let t := Bits (ignored f) (fbits f) (U w) in
  let e := Bits (ignored f + fbits f) (ebits f) (U w) in
  let s := Equal (Bits (ignored f + fbits f + ebits f) 1 (U w)) (Num_ 1) in
  let none := if has_zero f then Equal e (Num_ 0) else Never in
  let ones := Equal e (Num_ (2 ^ ebits f - 1)) in
  let full := Equal t (Num_ (2 ^ fbits f - 1)) in
  let empty := Equal t (Num_ 0) in
  Shown
    (match special f with IEEE => Both ones (Negation empty) | AllOnesNaN => Both ones full
       | NegativeZeroNaN => Both s (Both (Equal e (Num_ 0)) empty) | NoSpecials => Never end)
    (match special f with IEEE => Both ones empty | _ => Never end)
    (if has_sign f then s else Never)
    (If none (if subnormals f then t else Num_ 0) (Plus t (Num_ (2 ^ fbits f))))
    (If none (Num_ (1 - bias f)) (Minus e (Num_ (bias f))))
    (fbits f).

Definition word_width (f : format) : Z := ignored f + fbits f + ebits f + 1.
Definition format_ok (f : format) : bool := (0 <=? ignored f) && (0 <=? fbits f) && (1 <=? ebits f).

Lemma bits_split a j k : 0 <= a -> 0 <= j -> 0 <= k -> (a mod 2 ^ (j + k)) / 2 ^ k = (a / 2 ^ k) mod 2 ^ j.
Proof.
  intros A J K. rewrite Z.add_comm, Z.pow_add_r by lia. rewrite Z.rem_mul_r by (apply Z.pow_nonzero || apply pow2_pos; lia).
  rewrite Z.mul_comm, Z.div_add by (apply Z.pow_nonzero; lia). rewrite Z.div_small; auto. apply Z.mod_pos_bound. apply pow2_pos; lia.
Qed.
Lemma bits_low a j k : 0 <= j -> 0 <= k -> (a mod 2 ^ (j + k)) mod 2 ^ k = a mod 2 ^ k.
Proof.
  intros J K. rewrite Z.add_comm, Z.pow_add_r by lia. rewrite Z.rem_mul_r by (apply Z.pow_nonzero || apply pow2_pos; lia).
  rewrite Z.mul_comm, Z.mod_add by (apply Z.pow_nonzero; lia). apply Z.mod_mod. apply Z.pow_nonzero; lia.
Qed.

Lemma decode_shown m v f w : format_ok f = true -> 0 <= v w < 2 ^ word_width f -> decode f (v w) = val_of m v (shown_word f w).
Proof.
  unfold format_ok, word_width. rewrite !andb_true_iff, !Z.leb_le. intros [[I F] E] W.
  set (w' := v w / 2 ^ ignored f). set (e := (w' / 2 ^ fbits f) mod 2 ^ ebits f). set (t := w' mod 2 ^ fbits f). set (s := w' / 2 ^ (ebits f + fbits f)).
  assert (W' : 0 <= w' < 2 ^ (1 + (ebits f + fbits f))).
  { unfold w'. split. apply Z.div_pos; [lia|apply pow2_pos; lia]. apply Z.div_lt_upper_bound; [apply pow2_pos; lia|]. rewrite <- Z.pow_add_r by lia.
    replace (ignored f + (1 + (ebits f + fbits f))) with (ignored f + fbits f + ebits f + 1) by lia. lia. }
  assert (S01 : 0 <= s < 2). { unfold s. pose proof (pow2_pos (ebits f + fbits f) ltac:(lia)). rewrite Z.pow_add_r in W' by lia. change (2 ^ 1) with 2 in W'.
    split. apply Z.div_pos; lia. apply Z.div_lt_upper_bound; lia. }
  assert (VT : value m v (Bits (ignored f) (fbits f) (U w)) = t) by reflexivity.
  assert (VE : value m v (Bits (ignored f + fbits f) (ebits f) (U w)) = e).
  { cbn [value]. unfold e, w'. now rewrite Zdiv.Zdiv_Zdiv, <- Z.pow_add_r by (try (apply Z.lt_le_incl, pow2_pos); lia). }
  assert (VS : truth m v (Equal (Bits (ignored f + fbits f + ebits f) 1 (U w)) (Num_ 1)) = (s =? 1)).
  { cbn [truth value]. replace (v w / 2 ^ (ignored f + fbits f + ebits f)) with s. { change (2 ^ 1) with 2. now rewrite Z.mod_small by lia. }
    unfold s, w'. rewrite Zdiv.Zdiv_Zdiv, <- Z.pow_add_r by (try (apply Z.lt_le_incl, pow2_pos); lia). do 2 f_equal. lia. }
  unfold decode. fold w'.
  set (code := w' mod 2 ^ (ebits f + fbits f)). fold s.
  assert (CE : code / 2 ^ fbits f = e) by (unfold code, e; apply bits_split; lia).
  assert (CT : code mod 2 ^ fbits f = t) by (unfold code, t; apply bits_low; lia).
  rewrite CE, CT.
  assert (CC : code = e * 2 ^ fbits f + t). { rewrite <- CE, <- CT, Z.mul_comm. apply Z.div_mod. apply Z.pow_nonzero; lia. }
  assert (T0 : 0 <= t < 2 ^ fbits f) by (apply Z.mod_pos_bound, pow2_pos; lia). assert (E0 : 0 <= e < 2 ^ ebits f) by (apply Z.mod_pos_bound, pow2_pos; lia).
  assert (EQ : 2 ^ (ebits f + fbits f) = 2 ^ ebits f * 2 ^ fbits f) by (apply Z.pow_add_r; lia).
  unfold val_of, shown_word; cbn [s_nan s_inf s_neg s_sig s_exp s_frac].
  set (none := if has_zero f then _ else Never).
  assert (NO : truth m v none = (e =? 0) && has_zero f).
  { unfold none. destruct (has_zero f); cbn [truth Never Always]; rewrite ?VE, ?andb_true_r, ?andb_false_r; auto. }
  set (sgn := if has_sign f then _ else Never).
  assert (SS : has_sign f && (s =? 1) = truth m v sgn) by (unfold sgn; destruct (has_sign f); [now rewrite <- VS|reflexivity]). rewrite SS.
  assert (NUM : (if (e =? 0) && has_zero f
      then Num {| neg := truth m v sgn; sig := if subnormals f then t else 0; exp := 1 - bias f; frac := fbits f |}
      else Num {| neg := truth m v sgn; sig := t + 2 ^ fbits f; exp := e - bias f; frac := fbits f |}) =
     Num {| neg := truth m v sgn;
            sig := value m v (If none (if subnormals f then Bits (ignored f) (fbits f) (U w) else Num_ 0) (Plus (Bits (ignored f) (fbits f) (U w)) (Num_ (2 ^ fbits f))));
            exp := value m v (If none (Num_ (1 - bias f)) (Minus (Bits (ignored f + fbits f) (ebits f) (U w)) (Num_ (bias f)))); frac := fbits f |}).
  { assert (IFV : forall a b, value m v (If none a b) = if truth m v none then value m v a else value m v b) by reflexivity.
    rewrite !IFV, NO. destruct ((e =? 0) && has_zero f); f_equal; f_equal; [now destruct (subnormals f)|cbn [value]; now rewrite <- VE]. }
  rewrite NUM. clear NUM. clearbody none sgn. destruct (special f); cbn [truth]; rewrite ?VE, ?VT.
  - change (value m v (Num_ (2 ^ ebits f - 1))) with (2 ^ ebits f - 1). change (value m v (Num_ 0)) with 0.
    destruct (e =? 2 ^ ebits f - 1); cbn [andb]; auto. destruct (t =? 0); reflexivity.
  - change (value m v (Num_ (2 ^ ebits f - 1))) with (2 ^ ebits f - 1). change (value m v (Num_ (2 ^ fbits f - 1))) with (2 ^ fbits f - 1).
    replace (code =? 2 ^ (ebits f + fbits f) - 1) with ((e =? 2 ^ ebits f - 1) && (t =? 2 ^ fbits f - 1)); [destruct (_ && _); auto|].
    rewrite CC, EQ. destruct (Z.eqb_spec e (2 ^ ebits f - 1)) as [->|Q]; cbn [andb].
    + destruct (Z.eqb_spec t (2 ^ fbits f - 1)), (Z.eqb_spec ((2 ^ ebits f - 1) * 2 ^ fbits f + t) (2 ^ ebits f * 2 ^ fbits f - 1)); auto; lia.
    + destruct (Z.eqb_spec (e * 2 ^ fbits f + t) (2 ^ ebits f * 2 ^ fbits f - 1)); auto. nia.
  - change (value m v (Num_ 0)) with 0. replace (code =? 0) with ((e =? 0) && (t =? 0)).
    + change (truth m v (Equal ?a ?b)) with (value m v a =? value m v b) in VS. rewrite VS. destruct ((s =? 1) && ((e =? 0) && (t =? 0))); auto.
    + rewrite CC. destruct (Z.eqb_spec e 0) as [->|Q]; cbn [andb]; [now rewrite Z.mul_0_l|]. destruct (Z.eqb_spec (e * 2 ^ fbits f + t) 0); auto. nia.
  - reflexivity.
Qed.

(** * Products *)

Definition shown_zero (x : shown) : formula := Both (Negation (Either (s_nan x) (s_inf x))) (Equal (s_sig x) (Num_ 0)).
Definition Differ (a b : formula) : formula := Negation (Iff a b).

Definition shown_product (x y : shown) : shown :=
  Shown (Either (Either (s_nan x) (s_nan y)) (Either (Both (s_inf x) (shown_zero y)) (Both (shown_zero x) (s_inf y))))
    (Either (s_inf x) (s_inf y)) (Differ (s_neg x) (s_neg y)) (Times (s_sig x) (s_sig y)) (Plus (s_exp x) (s_exp y)) (s_frac x + s_frac y).

Lemma truth_differ m v a b : truth m v (Differ a b) = xorb (truth m v a) (truth m v b).
Proof. unfold Differ. change (truth m v (Negation ?q)) with (negb (truth m v q)). rewrite truth_iff. now destruct (truth m v a), (truth m v b). Qed.

Lemma product_shown m v x y : product (val_of m v x) (val_of m v y) = val_of m v (shown_product x y).
Proof.
  unfold val_of at 3. unfold shown_product, shown_zero; cbn [s_nan s_inf s_neg s_sig s_exp s_frac truth value]. rewrite truth_differ.
  unfold val_of. destruct (truth m v (s_nan x)), (truth m v (s_nan y)), (truth m v (s_inf x)), (truth m v (s_inf y)); simpl; auto;
    unfold is_zero; simpl; auto; rewrite ?andb_true_r, ?orb_false_r; try (destruct (value m v (s_sig x) =? 0); simpl; auto; now rewrite xorb_comm); try (destruct (value m v (s_sig y) =? 0); simpl; auto; now rewrite xorb_comm).
Qed.

(** A subnormal value as a rule has it. *)
Definition shown_flush (r : flush_rule) (x : shown) : shown :=
  let subnormal := Both (Negation (s_inf x)) (Both (Negation (Equal (s_sig x) (Num_ 0))) (Less (s_sig x) (Num_ (2 ^ s_frac x)))) in
  match r with
  | PositiveZero => Shown (s_nan x) (s_inf x) (Both (s_neg x) (Negation subnormal)) (If subnormal (Num_ 0) (s_sig x)) (s_exp x) (s_frac x)
  | SignedZero => Shown (s_nan x) (s_inf x) (s_neg x) (If subnormal (Num_ 0) (s_sig x)) (s_exp x) (s_frac x)
  | _ => x
  end.

Definition rule_ok (r : flush_rule) : bool := match r with HiddenBit => false | _ => true end.

Lemma flush_kept_ v : flush Kept v = v.
Proof. destruct v as [x| |]; simpl; auto. now destruct (is_subnormal x). Qed.

Lemma flush_shown m v r x : rule_ok r = true -> 0 <= s_frac x -> 0 <= value m v (s_sig x) -> flush r (val_of m v x) = val_of m v (shown_flush r x).
Proof.
  intros R F S. destruct r; try easy; [apply flush_kept_| |];
  (unfold val_of; cbn [shown_flush s_nan s_inf s_neg s_sig s_exp s_frac]; destruct (truth m v (s_nan x)); [reflexivity|]; destruct (truth m v (s_inf x)) eqn:I;
   [cbn [truth flush]; rewrite ?I; cbn [negb andb]; rewrite ?andb_true_r; reflexivity|]);
  (cbn [flush truth value]; rewrite ?I; cbn [negb andb]; unfold is_subnormal, is_zero; cbn [sig frac neg exp];
   assert (L : negb (value m v (s_sig x) =? 0) && (Z.log2 (value m v (s_sig x)) <? s_frac x) = negb (value m v (s_sig x) =? 0) && (value m v (s_sig x) <? 2 ^ s_frac x));
   [destruct (Z.eqb_spec (value m v (s_sig x)) 0); cbn [negb andb]; auto; destruct (Z.ltb_spec (Z.log2 (value m v (s_sig x))) (s_frac x)) as [A|A], (Z.ltb_spec (value m v (s_sig x)) (2 ^ s_frac x)) as [B|B]; auto; exfalso;
     [apply Z.log2_lt_pow2 in A; lia|apply Z.log2_lt_pow2 in B; lia]|]);
  rewrite L; destruct (negb (value m v (s_sig x) =? 0) && (value m v (s_sig x) <? 2 ^ s_frac x)); cbn [negb andb]; rewrite ?andb_true_r, ?andb_false_r; reflexivity.
Qed.

(** Factors: a word, its format, what a subnormal counts as, and the node of its significand where there is one. *)
Record factor := Factor { word : positive; format_of : format; rule : flush_rule; significand_of : option positive }.

Definition shown_factor (x : factor) : shown := shown_flush (rule x) (shown_word (format_of x) (word x)).
Definition shown_factors (x : factor) (l : list factor) : shown := fold_left (fun s y => shown_product s (shown_factor y)) l (shown_factor x).
Definition factor_value (v : env) (y : factor) : val := flush (rule y) (decode (format_of y) (v (word y))).

Definition factor_term (x : factor) : term := match significand_of x with Some i => U i | None => s_sig (shown_factor x) end.
Definition factor_claims (x : factor) : list claim :=
  match significand_of x with
  | Some i => [Claim [Negation (s_nan (shown_factor x)); Negation (s_inf (shown_factor x))] (Equal (U i) (s_sig (shown_factor x)))]
  | None => []
  end.

(** A number is what is shown, where what is [known] holds; [given_sig]: where its significand is. *)
Definition number_claims (s : shown) (known given_sig : list formula) (sig : term) (r : number) : list claim :=
  [Claim known (Iff (Is (nan r)) (s_nan s));
   Claim (Negation (s_nan s) :: known) (Iff (Is (inf r)) (s_inf s));
   Claim (Negation (s_nan s) :: known) (Iff (Is (sign r)) (s_neg s));
   Claim (Negation (s_nan s) :: Negation (s_inf s) :: known) (Equal (exponent r) (s_exp s));
   Claim (given_sig ++ known) (Equal (U (significand r)) sig)].

Lemma number_sound ct s kn gs sig r v : Forall (holds ct) (number_claims s kn gs sig r) -> forallb (truth (widths_of ct) v) kn = true -> solution ct v -> bits_below r = s_frac s ->
  (truth (widths_of ct) v (s_nan s) = false -> truth (widths_of ct) v (s_inf s) = false -> forallb (truth (widths_of ct) v) gs = true /\ value (widths_of ct) v sig = value (widths_of ct) v (s_sig s)) ->
  val_of (widths_of ct) v s = val_in v r.
Proof.
  intros CL KN SOL B S. set (m := widths_of ct) in *.
  assert (Q : forall k q, nth_error (number_claims s kn gs sig r) k = Some q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true).
  { intros k q N G. rewrite Forall_forall in CL. exact (CL q (nth_error_In _ _ N) v SOL G). }
  pose proof (Q 0%nat _ eq_refl KN) as Q0. cbn [goal] in Q0. rewrite truth_iff in Q0. apply eqb_prop in Q0. cbn [truth] in Q0.
  unfold val_of, val_in. rewrite Q0. destruct (truth m v (s_nan s)) eqn:N; auto.
  pose proof (Q 1%nat _ eq_refl) as Q1. cbn [given forallb goal truth] in Q1. rewrite N, KN in Q1. specialize (Q1 eq_refl). change (truth m v (Iff (Is (inf r)) (s_inf s)) = true) in Q1. rewrite truth_iff in Q1. apply eqb_prop in Q1. cbn [truth] in Q1.
  pose proof (Q 2%nat _ eq_refl) as Q2. cbn [given forallb goal truth] in Q2. rewrite N, KN in Q2. specialize (Q2 eq_refl). change (truth m v (Iff (Is (sign r)) (s_neg s)) = true) in Q2. rewrite truth_iff in Q2. apply eqb_prop in Q2. cbn [truth] in Q2.
  rewrite Q1, Q2. destruct (truth m v (s_inf s)) eqn:I; auto. f_equal. unfold num_in. rewrite Q2.
  pose proof (Q 3%nat _ eq_refl) as Q3. cbn [given forallb goal] in Q3. cbn [truth] in Q3. rewrite N, I, KN in Q3. specialize (Q3 eq_refl). apply Z.eqb_eq in Q3.
  destruct (S eq_refl eq_refl) as [G E]. assert (G' : forallb (truth m v) (gs ++ kn) = true) by (now rewrite forallb_app, G). pose proof (Q 4%nat _ eq_refl G') as Q4. cbn [goal truth] in Q4. apply Z.eqb_eq in Q4. cbn [value] in Q3, Q4. change (value m v (exponent r)) with (v (code r) + low r) in Q3.
  rewrite B, <- Q3, Q4, E. reflexivity.
Qed.

Definition leaf_claims (x : factor) (l : list factor) (r : number) : list claim :=
  flat_map factor_claims (x :: l) ++ number_claims (shown_factors x l) [] [] (fold_left (fun t y => Times t (factor_term y)) l (factor_term x)) r.

Definition leaf_ok (m : widths) (x : factor) (l : list factor) (r : number) : bool :=
  forallb (fun y => format_ok (format_of y) && rule_ok (rule y) && (width_in m (word y) <=? word_width (format_of y))) (x :: l) &&
  (bits_below r =? s_frac (shown_factors x l)).

Lemma word_sig m v f w : format_ok f = true -> 0 <= s_frac (shown_word f w) /\ 0 <= value m v (s_sig (shown_word f w)).
Proof.
  unfold format_ok. rewrite !andb_true_iff, !Z.leb_le. intros [[I F] E]. split; [exact F|]. cbn [shown_word s_sig].
  set (none := if has_zero f then _ else Never). set (t := Bits (ignored f) (fbits f) (U w)).
  assert (T0 : 0 <= value m v t) by (unfold t; cbn [value]; apply Z.mod_pos_bound, pow2_pos; lia). pose proof (pow2_pos (fbits f) F).
  assert (value m v (If none (if subnormals f then t else Num_ 0) (Plus t (Num_ (2 ^ fbits f)))) = if truth m v none then value m v (if subnormals f then t else Num_ 0) else value m v t + 2 ^ fbits f) by reflexivity.
  rewrite H0. destruct (truth m v none); [|lia]. destruct (subnormals f); auto. cbn [value]. lia.
Qed.

Section Leaf.
Variables (ct : circuit) (x : factor) (l : list factor) (r : number) (v : env).
Let m := widths_of ct.
Hypothesis OK : leaf_ok m x l r = true.
Hypothesis CL : Forall (holds ct) (leaf_claims x l r).
Hypothesis SOL : solution ct v.
Hypothesis NODES : forall y, In y (x :: l) -> fits m v (word y).

Lemma leaf_use q : In q (leaf_claims x l r) -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true.
Proof. intros I G. rewrite Forall_forall in CL. exact (CL q I v SOL G). Qed.

Lemma decode_factor y : In y (x :: l) -> factor_value v y = val_of m v (shown_factor y).
Proof.
  intros I. unfold leaf_ok in OK. rewrite andb_true_iff, forallb_forall in OK. destruct OK as [F _]. specialize (F y I).
  rewrite !andb_true_iff, Z.leb_le in F. destruct F as [[F R] W]. unfold factor_value.
  assert (FW : 0 <= v (word y) < 2 ^ word_width (format_of y)) by (destruct (NODES y I) as [N0 N1]; split; auto; eapply Z.lt_le_trans; [exact N1|]; apply Z.pow_le_mono_r; lia).
  rewrite (decode_shown m) by auto.
  destruct (word_sig m v (format_of y) (word y) F). now apply flush_shown.
Qed.

Lemma factors_shown l' s : (forall y, In y l' -> In y (x :: l)) ->
  fold_left (fun w y => product w (factor_value v y)) l' (val_of m v s) = val_of m v (fold_left (fun s y => shown_product s (shown_factor y)) l' s).
Proof.
  revert s. induction l' as [|y l' IH]; intros s H; simpl; auto. rewrite decode_factor by (apply H; now left). rewrite product_shown. apply IH. intros. apply H. now right.
Qed.

Lemma not_nan_factor l' s : truth m v (s_nan (fold_left (fun s y => shown_product s (shown_factor y)) l' s)) = false -> truth m v (s_inf (fold_left (fun s y => shown_product s (shown_factor y)) l' s)) = false ->
  (truth m v (s_nan s) = false /\ truth m v (s_inf s) = false) /\ forall y, In y l' -> truth m v (s_nan (shown_factor y)) = false /\ truth m v (s_inf (shown_factor y)) = false.
Proof.
  revert s. induction l' as [|y l' IH]; intros s N I; simpl in *; [repeat split; auto; easy|]. destruct (IH _ N I) as [[A B] C]. cbn [shown_product s_nan s_inf truth] in A, B.
  apply orb_false_elim in A, B. destruct A as [A _], B as [B1 B2]. apply orb_false_elim in A. destruct A as [A1 A2]. repeat split; auto.
  - destruct H as [<-|H]; auto. now apply C. - destruct H as [<-|H]; auto. now apply C.
Qed.

Lemma factor_term_is y : In y (x :: l) -> truth m v (s_nan (shown_factor y)) = false -> truth m v (s_inf (shown_factor y)) = false -> value m v (factor_term y) = value m v (s_sig (shown_factor y)).
Proof.
  intros I N F. unfold factor_term. destruct (significand_of y) as [i|] eqn:S; auto.
  assert (Q : truth m v (Equal (U i) (s_sig (shown_factor y))) = true).
  { apply (leaf_use (Claim [Negation (s_nan (shown_factor y)); Negation (s_inf (shown_factor y))] (Equal (U i) (s_sig (shown_factor y))))).
    - unfold leaf_claims. apply in_or_app. left. apply in_flat_map. exists y. split; auto. unfold factor_claims. rewrite S. now left.
    - cbn [given forallb truth]. now rewrite N, F. }
  cbn [truth] in Q. now apply Z.eqb_eq in Q.
Qed.

Lemma significands l' t s : (forall y, In y l' -> In y (x :: l) /\ truth m v (s_nan (shown_factor y)) = false /\ truth m v (s_inf (shown_factor y)) = false) ->
  value m v t = value m v (s_sig s) ->
  value m v (fold_left (fun t y => Times t (factor_term y)) l' t) = value m v (s_sig (fold_left (fun s y => shown_product s (shown_factor y)) l' s)).
Proof.
  revert t s. induction l' as [|y l' IH]; intros t s H E; simpl; auto. apply IH. { intros z I. apply H. now right. }
  cbn [value shown_product s_sig]. rewrite E. f_equal. destruct (H y (or_introl eq_refl)) as [I [N F]]. now apply factor_term_is.
Qed.

Theorem leaf_sound : fold_left (fun w y => product w (factor_value v y)) l (factor_value v x) = val_in v r.
Proof.
  rewrite decode_factor by (now left). rewrite factors_shown by (intros; now right). fold (shown_factors x l).
  pose proof CL as CL'. unfold leaf_claims in CL'. rewrite Forall_app in CL'. destruct CL' as [_ CN].
  pose proof OK as OK'. unfold leaf_ok in OK'. rewrite andb_true_iff in OK'. destruct OK' as [_ B]. apply Z.eqb_eq in B.
  apply (number_sound ct _ _ _ _ _ v CN eq_refl SOL B). intros N I. split; auto.
  destruct (not_nan_factor l (shown_factor x) N I) as [[N0 I0] FF].
  apply significands. { intros y Y. destruct (FF y Y). split; auto. now right. }
  apply factor_term_is; auto. now left.
Qed.
End Leaf.

(** * The word of a number *)

Definition word_term (f : format) (s : formula) (body : term) : term :=
  Times (Plus (If s (Num_ (2 ^ ebits f * 2 ^ fbits f)) (Num_ 0)) body) (Num_ (2 ^ ignored f)).

Definition word_claims (f : format) (nan_word : term) (r : number) (known : list formula) (root : positive) : list claim :=
  let s := Times (U (significand r)) (Num_ (2 ^ (fbits f - bits_below r))) in
  let normal := Plus (Times (Plus (exponent r) (Num_ (bias f))) (Num_ (2 ^ fbits f))) (Minus s (Num_ (2 ^ fbits f))) in
  [Claim [Is (nan r)] (Equal (U root) nan_word);
   Claim [Negation (Is (nan r)); Is (inf r)] (Equal (U root) (word_term f (Is (sign r)) (Num_ ((2 ^ ebits f - 1) * 2 ^ fbits f))));
   Claim (Negation (Is (nan r)) :: Negation (Is (inf r)) :: known)
     (Equal (U root) (word_term f (Is (sign r)) (If (Less s (Num_ (2 ^ fbits f))) s normal)))].

Theorem word_sound ct f nan_word n r known root v : ((v (nan r) =? 1) = true -> value (widths_of ct) v nan_word = n) -> bits_below r <= fbits f -> Forall (holds ct) (word_claims f nan_word r known root) -> solution ct v ->
  ((v (nan r) =? 1) = false -> (v (inf r) =? 1) = false -> forallb (truth (widths_of ct) v) known = true) ->
  v root = encode f n (val_in v r).
Proof.
  intros NW B CL SOL K. set (m := widths_of ct) in *.
  assert (Q : forall k q, nth_error (word_claims f nan_word r known root) k = Some q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true).
  { intros k q N. rewrite Forall_forall in CL. exact (CL q (nth_error_In _ _ N) v SOL). }
  unfold val_in. destruct (v (nan r) =? 1) eqn:N.
  { pose proof (Q 0%nat _ eq_refl) as H. cbn [given forallb goal truth value] in H. rewrite N in H. specialize (H eq_refl). apply Z.eqb_eq in H. rewrite H. now apply NW. }
  destruct (v (inf r) =? 1) eqn:I.
  { pose proof (Q 1%nat _ eq_refl) as H. cbn [given forallb goal truth value word_term] in H. rewrite N, I in H. specialize (H eq_refl). apply Z.eqb_eq in H.
    rewrite H. unfold encode. destruct (v (sign r) =? 1); lia. }
  pose proof (Q 2%nat _ eq_refl) as H. cbn [given forallb] in H. cbn [truth] in H. rewrite N, I, (K eq_refl eq_refl) in H. specialize (H eq_refl).
  cbn [goal truth value word_term exponent] in H. apply Z.eqb_eq in H. rewrite H. unfold encode, num_in; cbn [sig frac neg exp].
  assert (RD : round_div RZ (v (significand r)) (bits_below r - fbits f) = v (significand r) * 2 ^ (fbits f - bits_below r)).
  { rewrite round_div_unfold. destruct (Z.leb_spec (bits_below r - fbits f) 0); [|lia]. do 2 f_equal. lia. }
  rewrite RD. destruct (_ <? 2 ^ fbits f); destruct (v (sign r) =? 1); lia.
Qed.
