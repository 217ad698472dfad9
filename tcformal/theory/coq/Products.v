(** Products on the way from factors to terms: factors with a leading one, negation, limits, roundings. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Leaves Stage.
Import ListNotations.
Open Scope Z_scope.

(** * Factors with a leading one *)

Definition normal_claims (s : shown) (y : number) : list claim :=
  let finite_s := [Negation (s_nan s); Negation (s_inf s)] in
  let z := Equal (s_sig s) (Num_ 0) in
  let k := Minus (s_exp s) (exponent y) in
  [Claim [] (Iff (Is (nan y)) (s_nan s));
   Claim [Negation (s_nan s)] (Iff (Is (inf y)) (s_inf s));
   Claim [Negation (s_nan s)] (Iff (Is (sign y)) (s_neg s));
   Claim (z :: finite_s) (Both (Equal (U (significand y)) (Num_ 0)) (Equal (exponent y) (s_exp s)));
   Claim (Negation z :: finite_s) (Both (AtMost (Num_ 0) k) (AtMost k (Num_ (s_frac s))));
   Claim (Negation z :: finite_s) (Equal (U (significand y)) (Shift (s_sig s) (Low k (Num_ (s_frac s)))));
   Claim (Negation z :: finite_s)
     (Both (AtMost (Num_ (2 ^ s_frac s)) (U (significand y))) (Less (U (significand y)) (Num_ (2 ^ (s_frac s + 1)))))].

(** The product of two numbers. *)
Definition product_claims (a b r : number) : list claim :=
  number_claims (shown_product (shown_number a) (shown_number b)) [] [] (Times (U (significand a)) (U (significand b))) r.

(** * Negated products, and products with a limit *)

Definition shown_adjusted (negated : bool) (limit : option Z) (w : Z) (s : shown) : shown :=
  let over := match limit with
    | None => Never
    | Some l => Both (Negation (Equal (s_sig s) (Num_ 0)))
        (AtMost (Shift (Num_ 1) (Low (Minus (Num_ (l + s_frac s)) (s_exp s)) (Num_ w))) (s_sig s))
    end in
  Shown (s_nan s) (Either (s_inf s) over) (if negated then Negation (s_neg s) else s_neg s) (s_sig s) (s_exp s) (s_frac s).

Definition unadjusted (negated : bool) (limit : option Z) : bool := negb negated && match limit with None => true | _ => false end.

Definition adjust_claims (m : widths) (negated : bool) (limit : option Z) (r to : number) : list claim :=
  if unadjusted negated limit then [] else
  let s := shown_adjusted negated limit (width_in m (significand r)) (shown_number r) in
  number_claims s [] [Negation (s_nan s); Negation (s_inf s)] (s_sig s) to.

Definition adjust_ok (m : widths) (negated : bool) (limit : option Z) (r to : number) : bool :=
  if unadjusted negated limit then number_eqb r to
  else in_circuit m (significand r) && (0 <=? width_in m (significand r)) && (bits_below to =? bits_below r).

(** What the specification makes of a product with its scales before it is rounded. *)
Definition adjusted_value (negated : bool) (limit : option Z) (v : val) : val :=
  match (if negated then negate v else v) with
  | Num x => if match limit with Some l => negb (is_zero x) && (l <=? own_exponent x) | None => false end then Inf (neg x) else Num x
  | w => w
  end.

(** * Rounded products *)

Definition to_round_of (m : widths) (r : number) (span : Z) : to_round :=
  let s := U (significand r) in
  ToRound [r] s (Equal s (Num_ 0)) (Both (Is (sign r)) (Negation (Equal s (Num_ 0)))) (Plus (exponent r) (Num_ (- bits_below r)))
    (2 ^ width_in m (significand r) - 1) [AtMost (U (code r)) (Num_ span)] (Is (sign r)).

Definition rounding_claims (m : widths) (c : conversion) (r : number) (span : Z) (x : ending) : list claim :=
  Claim [finite r] (AtMost (U (code r)) (Num_ span)) ::
  kept_claims c x (to_round_of m r span) ++ outcome_claims c x (to_round_of m r span).

Definition rounding_ok (m : widths) (c : conversion) (r : number) (x : ending) : bool :=
  ending_ok m c x && forallb (in_circuit m) (significand r :: ending_nodes x).

Definition rounded_value (c : conversion) (v : val) : val := match v with Num x => round_num (Floating c) x | w => w end.

(** * The claims are enough *)

Section Sound.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.

Let fits_in i : in_circuit m i = true -> fits m v i. Proof. apply (in_map_fits ct v SOL CIRC). Qed.

Lemma normal_sound s y : bits_below y = s_frac s -> 0 <= s_frac s -> 0 <= value m v (s_sig s) -> Forall (holds ct) (normal_claims s y) ->
  on_num normalised (val_of m v s) = val_in v y.
Proof.
  intros B F S CL.
  assert (Q : forall k q, nth_error (normal_claims s y) k = Some q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true).
  { intros k q Nt G. rewrite Forall_forall in CL. exact (CL q (nth_error_In _ _ Nt) v SOL G). }
  pose proof (Q 0%nat _ eq_refl eq_refl) as Q0. cbn [goal] in Q0. rewrite truth_iff in Q0. apply eqb_prop in Q0. cbn [truth] in Q0.
  unfold val_of, val_in. rewrite Q0. destruct (truth m v (s_nan s)) eqn:N; [reflexivity|].
  assert (NN : truth m v (Negation (s_nan s)) = true) by (cbn [truth]; now rewrite N).
  pose proof (Q 1%nat _ eq_refl) as Q1. cbn [given forallb goal] in Q1. rewrite NN, truth_iff in Q1. specialize (Q1 eq_refl). apply eqb_prop in Q1. cbn [truth] in Q1.
  pose proof (Q 2%nat _ eq_refl) as Q2. cbn [given forallb goal] in Q2. rewrite NN, truth_iff in Q2. specialize (Q2 eq_refl). apply eqb_prop in Q2. cbn [truth] in Q2.
  rewrite Q1, Q2. destruct (truth m v (s_inf s)) eqn:I; [reflexivity|]. cbn [on_num]. f_equal.
  assert (NI : truth m v (Negation (s_inf s)) = true) by (cbn [truth]; now rewrite I).
  pose proof (Q 3%nat _ eq_refl) as Q3. cbn [given forallb goal] in Q3. rewrite NN, NI in Q3.
  pose proof (Q 4%nat _ eq_refl) as Q4. cbn [given forallb goal] in Q4. rewrite NN, NI in Q4.
  pose proof (Q 5%nat _ eq_refl) as Q5. cbn [given forallb goal] in Q5. rewrite NN, NI in Q5.
  pose proof (Q 6%nat _ eq_refl) as Q6. cbn [given forallb goal] in Q6. rewrite NN, NI in Q6. clear Q.
  cbn [truth value] in Q3, Q4, Q5, Q6. change (value m v (exponent y)) with (v (code y) + low y) in *. unfold num_in. rewrite Q2, B. clear Q0 Q1 Q2 NN NI.
  set (sg := value m v (s_sig s)) in *. set (e := value m v (s_exp s)) in *. set (f := s_frac s) in *. set (sy := v (significand y)) in *. set (ey := v (code y) + low y) in *.
  unfold normalised, is_subnormal, is_zero; cbn [sig frac neg exp].
  destruct (Z.eqb_spec sg 0) as [Z0|Z0].
  - specialize (Q3 eq_refl). rewrite andb_true_iff, !Z.eqb_eq in Q3. destruct Q3 as [Q3 Q7]. cbn [negb andb]. rewrite Q3, Q7, Z0. reflexivity.
  - cbn [negb andb] in Q4, Q5, Q6 |- *. specialize (Q4 eq_refl). specialize (Q5 eq_refl). specialize (Q6 eq_refl).
    rewrite andb_true_iff, !Z.leb_le in Q4. apply Z.eqb_eq in Q5. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in Q6. rewrite Z.min_l in Q5 by lia.
    set (k := e - ey) in *. assert (PK : 0 < 2 ^ k) by (apply pow2_pos; lia).
    assert (L : Z.log2 sy = f) by (apply Z.log2_unique; [exact F|]; rewrite <- Z.add_1_r; lia).
    assert (LG : Z.log2 sg + k = f) by (rewrite <- L, Q5, Z.log2_mul_pow2 by lia; lia).
    destruct (Z.ltb_spec (Z.log2 sg) f) as [D|D].
    + replace (f - Z.log2 sg) with k by lia. f_equal; [now rewrite Q5|unfold k; lia].
    + assert (k = 0) by lia. f_equal; [rewrite Q5, H; change (2 ^ 0) with 1; lia|unfold k in H; lia].
Qed.

Lemma product_sound a b r : bits_below r = bits_below a + bits_below b -> Forall (holds ct) (product_claims a b r) ->
  product (val_in v a) (val_in v b) = val_in v r.
Proof.
  intros B CL. rewrite <- !shown_number_is with (ct := ct), product_shown. apply (number_sound ct _ _ _ _ _ v CL eq_refl SOL B). intros _ _. now split.
Qed.

Lemma over_is l w e f sg : 0 <= w -> 0 < sg < 2 ^ w -> (2 ^ Z.min (l + f - e) w * 1 <=? sg) = (l <=? Z.log2 sg + (e - f)).
Proof.
  intros W S. rewrite Z.mul_1_r. destruct (Z.log2_spec sg ltac:(lia)) as [L1 L2]. pose proof (Z.log2_nonneg sg).
  assert (LW : Z.log2 sg < w) by (apply Z.log2_lt_pow2; lia).
  destruct (Z.leb_spec l (Z.log2 sg + (e - f))) as [A|A].
  - apply Z.leb_le. destruct (Z.lt_ge_cases (l + f - e) 0) as [N|N]; [rewrite Z.pow_neg_r by lia; lia|].
    apply Z.le_trans with (2 ^ Z.log2 sg); [|exact L1]. apply Z.pow_le_mono_r; lia.
  - apply Z.leb_gt. apply Z.lt_le_trans with (2 ^ Z.succ (Z.log2 sg)); [exact L2|]. apply Z.pow_le_mono_r; lia.
Qed.

Lemma adjusted_shown n l w s : 0 <= w -> 0 <= value m v (s_sig s) < 2 ^ w ->
  adjusted_value n l (val_of m v s) = val_of m v (shown_adjusted n l w s).
Proof.
  intros W S. unfold val_of; cbn [shown_adjusted s_nan s_inf s_neg s_sig s_exp s_frac]. destruct (truth m v (s_nan s)) eqn:N; [now destruct n|].
  set (over := match l with None => Never | Some _ => _ end).
  assert (NG : truth m v (if n then Negation (s_neg s) else s_neg s) = if n then negb (truth m v (s_neg s)) else truth m v (s_neg s)) by (now destruct n). rewrite NG.
  change (truth m v (Either (s_inf s) over)) with (truth m v (s_inf s) || truth m v over).
  destruct (truth m v (s_inf s)) eqn:I; cbn [orb]; [now destruct n|].
  set (sg := value m v (s_sig s)) in *. set (e := value m v (s_exp s)).
  assert (OV : truth m v over = match l with Some l => negb (sg =? 0) && (l <=? Z.log2 (Z.abs sg) + (e - s_frac s)) | None => false end).
  { unfold over. destruct l as [l|]; [|reflexivity]. cbn [truth value]. fold sg e. destruct (Z.eqb_spec sg 0) as [Q|Q]; cbn [negb andb]; [reflexivity|].
    rewrite Z.abs_eq by lia. rewrite <- (over_is l w e (s_frac s) sg) by lia. f_equal. lia. }
  rewrite OV. unfold adjusted_value. destruct n; cbn [negate neg sig exp frac]; unfold is_zero, own_exponent, lsb; cbn [neg sig exp frac];
  destruct l as [l|]; try reflexivity; destruct (negb (sg =? 0) && _); reflexivity.
Qed.

Theorem adjust_sound n l r to w : adjust_ok m n l r to = true -> Forall (holds ct) (adjust_claims m n l r to) ->
  (unadjusted n l = true -> same_val w (val_in v r)) -> (unadjusted n l = false -> w = val_in v r) -> same_val (adjusted_value n l w) (val_in v to).
Proof.
  unfold adjust_ok, adjust_claims. intros OK CL S E. destruct (unadjusted n l) eqn:U.
  - apply number_eq in OK. subst to. unfold unadjusted in U. apply andb_prop in U. destruct U as [U1 U2]. destruct n; [easy|]. destruct l; [easy|].
    specialize (S eq_refl). unfold adjusted_value. now destruct w.
  - rewrite (E eq_refl). rewrite !andb_true_iff in OK. destruct OK as [[I W] B]. apply Z.leb_le in W. apply Z.eqb_eq in B.
    rewrite <- (shown_number_is ct v r). rewrite (adjusted_shown n l (width_in m (significand r))); [|exact W|exact (fits_in _ I)].
    unfold m in *. rewrite (number_sound ct _ _ _ _ _ v CL eq_refl SOL); [apply same_refl|exact B|].
    intros N J. split; [|reflexivity]. cbn [forallb truth]. now rewrite N, J.
Qed.

Lemma round_num_same c x y : same x y -> round_num (Floating c) x = round_num (Floating c) y.
Proof. intros [A [_ B]]. unfold round_num. cbn [round_to]. rewrite A. now apply convert_ext. Qed.

Lemma rounding_finished c r span x : rounding_ok m c r x = true -> Forall (holds ct) (rounding_claims m c r span x) -> truth m v (finite r) = true ->
  exists s n u, rounded_value c (val_in v r) = convert c s n u /\ finished ct c x (to_round_of m r span) v s n u.
Proof.
  unfold rounding_ok. rewrite andb_true_iff. intros [OK NI] CL FIN. unfold rounding_claims in CL. apply Forall_cons_iff in CL. destruct CL as [C0 C1]. rewrite Forall_app in C1. destruct C1 as [CK CO].
  rewrite forallb_forall in NI. set (q := to_round_of m r span) in *.
  assert (NODES : forall i, In i (ending_nodes x) -> fits m v i) by (intros i I; apply fits_in, NI; now right).
  assert (SG : fits m v (significand r)) by (apply fits_in, NI; now left). destruct SG as [S0 S1].
  assert (KN : forallb (truth m v) (known q) = true) by (pose proof (C0 v SOL) as K; fold m in K; cbn [given forallb goal] in K; rewrite FIN in K; cbn [q to_round_of known forallb]; rewrite andb_true_r; exact (K eq_refl)).
  assert (CT : counted ct q v (signed (num_in v r)) (lsb (num_in v r))).
  { destruct (v (sign r) =? 1) eqn:G; constructor; unfold q, to_round_of, signed, lsb, num_in; cbn [size no_size down unit truth value neg sig exp frac]; rewrite ?G; change (value m v (exponent r)) with (v (code r) + low r);
    repeat match goal with |- context [?a =? 0] => destruct (Z.eqb_spec a 0) | |- context [?a <? 0] => destruct (Z.ltb_spec a 0) end; cbn [negb andb]; try reflexivity; lia. }
  assert (BD : Z.abs (signed (num_in v r)) <= bound q) by (unfold q, to_round_of, signed, num_in; cbn [bound neg sig]; fold m in S1; destruct (v (sign r) =? 1); lia).
  pose proof (kept_is ct c x q v OK CK SOL NODES _ _ CT BD KN) as KF. apply (truth_finite m v) in FIN. rewrite FIN.
  exists (v (sign r) =? 1), (signed (num_in v r)), (lsb (num_in v r)). split; [reflexivity|]. pose proof CT as [CT1 CT2 CT3 CT4].
  constructor; auto. intros. apply (tiny_direct ct c x q v OK CK SOL NODES _ _ CT BD KN); assumption.
Qed.

Theorem rounding_sound c r span x w : rounding_ok m c r x = true -> Forall (holds ct) (rounding_claims m c r span x) -> same_val w (val_in v r) ->
  same_val (rounded_value c w) (val_in v (outcome x)).
Proof.
  intros RO_ RC S. assert (E : rounded_value c w = rounded_value c (val_in v r)).
  { destruct w as [a|s|], (val_in v r) as [b|t|]; cbn [same_val] in S; try easy; cbn [rounded_value]; [now apply round_num_same|now subst]. }
  rewrite E. clear E S w. pose proof (rounding_finished c r span x RO_ RC) as FN. unfold rounding_ok in RO_. rewrite andb_true_iff in RO_. destruct RO_ as [OK _].
  unfold rounding_claims in RC. apply Forall_cons_iff in RC. destruct RC as [_ C1]. rewrite Forall_app in C1. destruct C1 as [_ CO].
  apply (finish ct c x (to_round_of m r span) v OK CO SOL); unfold finite in FN; cbn [truth] in FN; unfold to_round_of, is_nan, is_inf, plus_inf, minus_inf; cbn [operands map any_of fold_right truth]; unfold val_in in *;
    destruct (v (nan r) =? 1), (v (inf r) =? 1), (v (sign r) =? 1); cbn [orb andb negb] in *; intros; try easy; try reflexivity; exact (FN eq_refl).
Qed.

(** What is known of the cut points where the result is a number. *)
Lemma rounding_usual c r span x : rounding_ok m c r x = true -> Forall (holds ct) (rounding_claims m c r span x) -> (v (nan (outcome x)) =? 1) = false -> (v (inf (outcome x)) =? 1) = false ->
  forallb (truth m v) (usual c x (to_round_of m r span)) = true.
Proof.
  intros RO_ RC N I. pose proof (rounding_finished c r span x RO_ RC) as FN. unfold rounding_claims in RC. apply Forall_cons_iff in RC. destruct RC as [_ C1]. rewrite Forall_app in C1. destruct C1 as [_ CO].
  destruct (inf_not_num ct c x (to_round_of m r span) v CO SOL N I) as [A B]. destruct FN as [s [n [u [_ FN]]]]; [|exact (usual_is ct c x (to_round_of m r span) v s n u A B FN)].
  unfold finite. unfold is_nan, is_inf, plus_inf, minus_inf, to_round_of in A, B. cbn [operands map any_of fold_right truth] in A, B |- *. destruct (v (nan r) =? 1), (v (inf r) =? 1), (v (sign r) =? 1); easy.
Qed.
End Sound.
