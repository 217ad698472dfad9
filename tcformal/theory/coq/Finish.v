(** The end of a sum in a circuit: normalisation, rounding, special values and the number that is handed on, the same
    for every way in which the sum is made. *)
From Coq Require Import ZArith List Bool Lia Psatz.
From TC Require Import Spec Theorems Rounded Bv Circuit.
Import ListNotations.
Open Scope Z_scope.

(** * Numbers in a circuit *)

(** The nodes of a number: its exponent is the code plus [low]. *)
Record number := Number { sign : positive; significand : positive; code : positive; low : Z; bits_below : Z; nan : positive; inf : positive }.

Definition num_in (v : env) (r : number) : num :=
  {| neg := v (sign r) =? 1; sig := v (significand r); exp := v (code r) + low r; frac := bits_below r |}.
Definition val_in (v : env) (r : number) : val :=
  if v (nan r) =? 1 then NaN else if v (inf r) =? 1 then Inf (v (sign r) =? 1) else Num (num_in v r).

(** * Formulas *)

Definition Always : formula := Equal (Num_ 0) (Num_ 0).
Definition Never : formula := Negation Always.
Definition Iff (a b : formula) : formula := Either (Both a b) (Both (Negation a) (Negation b)).
Definition all_of (l : list formula) : formula := fold_right Both Always l.
Definition any_of (l : list formula) : formula := fold_right Either Never l.
Definition constant (b : bool) : formula := if b then Always else Never.
Definition within (bound : Z) (t : term) : formula := Both (AtMost (Num_ (- bound)) t) (AtMost t (Num_ bound)).
Definition finite (r : number) : formula := Both (Negation (Is (nan r))) (Negation (Is (inf r))).
Definition exponent (r : number) : term := Plus (U (code r)) (Num_ (low r)).

Section Truth.
Variables (m : widths) (v : env).
Lemma truth_iff a b : truth m v (Iff a b) = Bool.eqb (truth m v a) (truth m v b).
Proof. simpl. now destruct (truth m v a), (truth m v b). Qed.
Lemma truth_all l : truth m v (all_of l) = forallb (truth m v) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma truth_any l : truth m v (any_of l) = existsb (truth m v) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma truth_constant b : truth m v (constant b) = b.
Proof. now destruct b. Qed.
Lemma truth_within b t : truth m v (within b t) = true <-> - b <= value m v t <= b.
Proof. simpl. rewrite andb_true_iff, !Z.leb_le. reflexivity. Qed.
Lemma truth_finite r : truth m v (finite r) = true <-> val_in v r = Num (num_in v r).
Proof. simpl. unfold val_in. destruct (v (nan r) =? 1), (v (inf r) =? 1); simpl; split; easy. Qed.
End Truth.

(** * What is rounded, and where *)

(** The nodes of a rounding: the magnitude that is kept, whether one is added to it, the code of its exponent, and the
    number that is handed on. *)
Record ending := Ending { kept : positive; away : positive; height : positive; outcome : number }.

(** What is rounded: its operands, its magnitude, whether it is 0, whether it is negative, the exponent of its unit, the
    largest magnitude, what is known of it, and its sign as [Spec.sign_of] has it. *)
Record to_round := ToRound {
  operands : list number; size : term; no_size : formula; down : formula; unit : term; bound : Z; known : list formula;
  sum_sign : formula
}.

Section Claims.
Variables (m : widths) (c : conversion) (x : ending) (q : to_round).

Definition last_kept : term := Plus (U (height x)) (Num_ (emin c - p c)).
Definition most : Z := Z.log2 (bound q + 1) + 2 + deciding_bits (rho c).
Definition right : term := Low (Minus last_kept (unit q)) (Num_ most).
Definition left : term := Low (Minus (unit q) last_kept) (Num_ (p c + 1)).
Definition rest_term : term := Minus (size q) (Shift (U (kept x)) right).
Definition one_term : term := Shift (Num_ 1) right.
Definition away_formula : formula :=
  let odd := Equal (Bits 0 1 (U (kept x))) (Num_ 1) in
  let inexact := Negation (Equal rest_term (Num_ 0)) in
  match rho c with
  | RZ => Never
  | RNE => Either (Less one_term (Plus rest_term rest_term)) (Both (Equal one_term (Plus rest_term rest_term)) odd)
  | RNA => AtMost one_term (Plus rest_term rest_term)
  | RO => Both inexact (Negation odd)
  | RD => Both inexact (down q)
  | RU => Both inexact (Negation (down q))
  | SR n w => AtMost (Times (Num_ (2 ^ Z.pos n - w mod 2 ^ Z.pos n)) one_term) (Times rest_term (Num_ (2 ^ Z.pos n)))
  end.
Definition null : formula := Both (Equal (U (kept x)) (Num_ 0)) (Negation (Is (away x))).
Definition normal : formula := Either (AtMost (Num_ (2 ^ p c)) (U (kept x))) (Equal (U (height x)) (Num_ 0)).
Definition kept_claims : list claim :=
  let k := U (kept x) in
  [Claim (no_size q :: known q) null;
   Claim (Negation (no_size q) :: known q) normal;
   Claim (Negation (no_size q) :: AtMost last_kept (unit q) :: known q) (Both (Equal k (Shift (size q) left)) (Negation (Is (away x))));
   Claim (Negation (no_size q) :: Less (unit q) last_kept :: known q)
     (Both (AtMost (Shift k right) (size q)) (Less (size q) (Shift (Plus k (Num_ 1)) right)));
   Claim (Negation (no_size q) :: Less (unit q) last_kept :: known q) (Iff (Is (away x)) away_formula)].

(** Special values, and the number that is handed on. *)
Definition plus_inf : formula := any_of (map (fun r => Both (Is (inf r)) (Negation (Is (sign r)))) (operands q)).
Definition minus_inf : formula := any_of (map (fun r => Both (Is (inf r)) (Is (sign r))) (operands q)).
Definition is_nan : formula := Either (any_of (map (fun r => Is (nan r)) (operands q))) (Both plus_inf minus_inf).
Definition is_inf : formula := Either plus_inf minus_inf.

Definition grown : term := Plus (U (kept x)) (If (Is (away x)) (Num_ 1) (Num_ 0)).
Definition carried : formula := AtMost (Num_ (2 ^ (p c + 1))) grown.
(** What nearest-even rounding with one bit more leaves below the least normal number. *)
Definition tiny_formula : formula :=
  if tiny c then Both (Equal (U (kept x)) (Num_ (2 ^ p c - 1))) (Less (Times (Num_ 4) rest_term) (Times (Num_ 3) one_term)) else Never.
Definition zero_formula : formula :=
  Either (Equal grown (Num_ 0)) (if flushes c then Either (Less grown (Num_ (2 ^ p c))) tiny_formula else Never).
Definition raised : term := Plus (U (height x)) (If carried (Num_ 1) (Num_ 0)).
Definition over_formula : formula := Both (AtMost (Num_ (2 ^ p c)) grown) (Less (Num_ (emax c - emin c)) raised).
Definition to_infinity_formula : formula :=
  match overflow c with
  | Infinite => Always
  | Directed => match rho c with RNE | RNA | SR _ _ => Always | RD => down q | RU => Negation (down q) | RZ | RO => Never end
  | Largest => Never
  end.
Definition zero_sign_formula : formula :=
  match zsign c with Positive => Never | IeeeSign => sum_sign q | SumSign => Both (Negation (no_size q)) (sum_sign q) end.

(** What is known of the cut points where no operand is special. *)
Definition usual : list formula :=
  [Negation is_nan; Negation is_inf; Either (Negation (no_size q)) null; Either (no_size q) normal].

(** What tininess is read off as well. *)
Definition settled : list formula := usual ++ (if tiny c then known q else []).

Definition outcome_claims : list claim :=
  let r := outcome x in
  let overflow := Both (Negation zero_formula) (Both over_formula to_infinity_formula) in
  [Claim [] (Iff (Is (nan r)) is_nan);
   Claim [Negation is_nan; is_inf] (Both (Is (inf r)) (Iff (Is (sign r)) minus_inf));
   Claim settled (Iff (Is (inf r)) overflow);
   Claim settled (Iff (Is (sign r)) (Either (Both zero_formula zero_sign_formula) (Both (Negation zero_formula) (down q))));
   Claim (Negation overflow :: settled)
     (Equal (U (significand r))
        (If zero_formula (Num_ 0) (If over_formula (Num_ (2 ^ (p c + 1) - 1)) (If carried (Num_ (2 ^ p c)) grown))));
   Claim (Negation overflow :: settled)
     (Equal (exponent r) (If zero_formula (Num_ (emin c)) (If over_formula (Num_ (emax c)) (Plus (Num_ (emin c)) raised))))].

Definition ending_ok : bool :=
  (0 <=? p c) && (emin c <=? emax c) && (negb (tiny c) || (0 <? p c) && match rho c with RNE | RZ => true | _ => false end) &&
  (bits_below (outcome x) =? p c) && (width_in m (kept x) =? p c + 1).

Definition ending_nodes : list positive := [kept x; height x].
End Claims.

(** * The claims are enough *)

Lemma existsb_map {A B} (g : A -> B) q l : existsb q (map g l) = existsb (fun a => q (g a)) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma forallb_map {A B} (g : A -> B) q l : forallb q (map g l) = forallb (fun a => q (g a)) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma existsb_ext {A} (q r : A -> bool) l : (forall a, In a l -> q a = r a) -> existsb q l = existsb r l.
Proof. intros H. induction l; simpl; auto. rewrite H by (now left). f_equal. apply IHl. intros. apply H. now right. Qed.
Lemma forallb_ext {A} (q r : A -> bool) l : (forall a, q a = r a) -> forallb q l = forallb r l.
Proof. intros H. induction l; simpl; auto. now rewrite H, IHl. Qed.

Section Special.
Variables (m : widths) (v : env).

Lemma special_values d ns :
  let plus := any_of (map (fun r => Both (Is (inf r)) (Negation (Is (sign r)))) ns) in
  let minus := any_of (map (fun r => Both (Is (inf r)) (Is (sign r))) ns) in
  let nans := any_of (map (fun r => Is (nan r)) ns) in
  let is_nan := truth m v nans || (truth m v plus && truth m v minus) in
  let is_inf := truth m v plus || truth m v minus in
  (is_nan = true -> sum_values d (map (val_in v) ns) = NaN) /\
  (is_nan = false -> is_inf = true -> sum_values d (map (val_in v) ns) = Inf (truth m v minus)) /\
  (is_nan = false -> is_inf = false -> Forall (fun r => truth m v (finite r) = true) ns /\
     sum_values d (map (val_in v) ns) = sum_numbers d (map (num_in v) ns)).
Proof.
  intros plus minus nans. unfold plus, minus, nans. rewrite !truth_any, !existsb_map. cbn [truth].
  set (hn := existsb (fun r => v (nan r) =? 1) ns).
  set (hp := existsb (fun r => (v (inf r) =? 1) && negb (v (sign r) =? 1)) ns).
  set (hm := existsb (fun r => (v (inf r) =? 1) && (v (sign r) =? 1)) ns). cbv zeta.
  assert (FIN : hn = false -> hp || hm = false -> Forall (fun r => truth m v (finite r) = true) ns).
  { unfold hn, hp, hm. intros A B. apply Forall_forall. intros r I. simpl.
    assert (N : v (nan r) =? 1 = false). { destruct (v (nan r) =? 1) eqn:Q; auto. rewrite <- A. symmetry. apply existsb_exists. exists r. auto. }
    rewrite N. simpl. destruct (v (inf r) =? 1) eqn:Q; auto. exfalso. apply orb_false_elim in B. destruct B as [B1 B2].
    destruct (v (sign r) =? 1) eqn:W.
    - assert (X : existsb (fun r => (v (inf r) =? 1) && (v (sign r) =? 1)) ns = true) by (apply existsb_exists; exists r; rewrite Q, W; auto). congruence.
    - assert (X : existsb (fun r => (v (inf r) =? 1) && negb (v (sign r) =? 1)) ns = true) by (apply existsb_exists; exists r; rewrite Q, W; auto). congruence. }
  assert (NUM : Forall (fun r => truth m v (finite r) = true) ns -> numbers (map (val_in v) ns) = Some (map (num_in v) ns)).
  { intros F. rewrite <- numbers_map, map_map. f_equal. apply map_ext_in. intros r I. rewrite Forall_forall in F. apply (truth_finite m v). auto. }
  assert (NOT : forall e, hn || (hp || hm) = true -> numbers (map (val_in v) ns) = Some e -> False).
  { intros e H E. unfold numbers in E. destruct (forallb is_num (map (val_in v) ns)) eqn:Q; [|easy]. rewrite forallb_map in Q. rewrite forallb_forall in Q.
    assert (X : forall r, In r ns -> v (nan r) =? 1 = false /\ v (inf r) =? 1 = false).
    { intros r I. specialize (Q r I). unfold val_in in Q. destruct (v (nan r) =? 1), (v (inf r) =? 1); auto; easy. }
    unfold hn, hp, hm in H. rewrite !orb_true_iff, !existsb_exists in H. destruct H as [[r [I H]]|[[r [I H]]|[r [I H]]]]; destruct (X r I) as [A B].
    - congruence. - rewrite B in H. easy. - rewrite B in H. easy. }
  assert (SN : existsb (fun w => match w with NaN => true | _ => false end) (map (val_in v) ns) = hn).
  { rewrite existsb_map. apply existsb_ext. intros r _. unfold val_in. destruct (v (nan r) =? 1), (v (inf r) =? 1); auto. }
  assert (SP : hn = false -> existsb (fun w => match w with Inf false => true | _ => false end) (map (val_in v) ns) = hp).
  { intros A. rewrite existsb_map. apply existsb_ext. intros r I. unfold val_in.
    assert (N : v (nan r) =? 1 = false). { destruct (v (nan r) =? 1) eqn:Q; auto. rewrite <- A. symmetry. apply existsb_exists. exists r. auto. }
    rewrite N. destruct (v (inf r) =? 1), (v (sign r) =? 1); auto. }
  assert (SM : hn = false -> existsb (fun w => match w with Inf true => true | _ => false end) (map (val_in v) ns) = hm).
  { intros A. rewrite existsb_map. apply existsb_ext. intros r I. unfold val_in.
    assert (N : v (nan r) =? 1 = false). { destruct (v (nan r) =? 1) eqn:Q; auto. rewrite <- A. symmetry. apply existsb_exists. exists r. auto. }
    rewrite N. destruct (v (inf r) =? 1), (v (sign r) =? 1); auto. }
  unfold sum_values. repeat split.
  - intros H. destruct (numbers (map (val_in v) ns)) eqn:E. { exfalso. apply (NOT _ ltac:(destruct hn, hp, hm; easy) eq_refl). }
    unfold special_sum. rewrite SN. destruct hn eqn:A; auto. rewrite (SP eq_refl), (SM eq_refl). simpl in H. apply andb_prop in H. destruct H as [-> ->]. reflexivity.
  - intros H J. destruct (numbers (map (val_in v) ns)) eqn:E. { exfalso. apply (NOT _ ltac:(destruct hn, hp, hm; easy) eq_refl). }
    unfold special_sum. rewrite SN. destruct hn eqn:A; [easy|]. rewrite (SP eq_refl), (SM eq_refl). destruct hp, hm; easy.
  - apply FIN; destruct hn, hp, hm; easy.
  - rewrite NUM; auto. apply FIN; destruct hn, hp, hm; easy.
Qed.
End Special.

Lemma shift_clamped a g w s : 0 <= s -> 0 <= a -> 0 <= g < 2 ^ w -> 0 <= w ->
  a * 2 ^ Z.min s w <= g < (a + 1) * 2 ^ Z.min s w -> a * 2 ^ s <= g < (a + 1) * 2 ^ s.
Proof.
  intros S A G W H. destruct (Z.le_gt_cases s w) as [L|L]; [now rewrite Z.min_l in H by lia|]. rewrite Z.min_r in H by lia.
  assert (a = 0) by nia. subst a. pose proof (Z.pow_le_mono_r 2 w s ltac:(lia) ltac:(lia)). lia.
Qed.

(** ** Tininess after rounding *)

Lemma tiny_kept c n u kept h away : 0 < p c -> rho c = RNE \/ rho c = RZ -> kept_facts c n u kept h away -> n <> 0 -> 2 ^ p c <= kept + Z.b2z away ->
  let k := h + emin c - p c - u in
  (kept = 2 ^ p c - 1 -> 0 < k) /\
  is_tiny c n u = ((kept =? 2 ^ p c - 1) && (4 * (Z.abs n - kept * 2 ^ k) <? 3 * 2 ^ k)).
Proof.
  intros P RN F N R k. pose proof F as [RG H Z0 T X C]. specialize (T N). specialize (X N). specialize (C N).
  assert (P' : 0 <= p c) by lia. pose proof (kept_last_bit c n u kept h away P' F N) as LB. unfold last_bit in LB. destruct (Z.eqb_spec n 0); [easy|].
  set (l := Z.log2 (Z.abs n)) in *. assert (PP : 2 ^ (p c + 1) = 2 * 2 ^ p c) by (rewrite Z.pow_add_r by lia; lia). pose proof (pow2_pos (p c) P') as P0.
  unfold is_tiny. fold l.
  destruct (Z.le_gt_cases (2 ^ p c) kept) as [K|K].
  - (* normal: rounding leaves at least 2^p *)
    destruct (Z.eqb_spec kept (2 ^ p c - 1)); [lia|]. split; [lia|]. cbn [andb].
    assert (L : l + u = h + emin c).
    { destruct (Z.le_gt_cases (h + emin c - p c) u) as [G|G].
      - destruct (X G) as [E _]. pose proof (pow2_pos (u - (h + emin c - p c)) ltac:(lia)). unfold l.
        assert (LG : Z.log2 kept = p c) by (apply Z.log2_unique; [lia|]; rewrite <- Z.add_1_r; lia).
        rewrite E, Z.log2_mul_pow2 in LG by lia. lia.
      - destruct (C G) as [[E1 E2] _]. fold k in E1, E2. pose proof (pow2_pos k ltac:(unfold k; lia)).
        assert (l = p c + k); [|unfold k in *; lia]. unfold l. apply Z.log2_unique; [unfold k; lia|]. rewrite <- Z.add_1_r.
        replace (p c + k + 1) with ((p c + 1) + k) by lia. rewrite !(Z.pow_add_r 2 _ k) by (unfold k; lia).
        rewrite PP. clear - E1 E2 K RG PP H0. split; nia. }
    replace (l + u - p c - u) with (h + emin c - p c - u) by lia. replace (l + u - p c) with (h + emin c - p c) by lia.
    pose proof (kept_rounded c n u kept h away P' F N) as KR. rewrite KR. clear KR.
    assert (A : Z.abs (with_sign (n <? 0) (kept + Z.b2z away)) = kept + Z.b2z away) by (unfold with_sign; destruct (n <? 0), away; simpl; lia). rewrite A.
    assert (p c <= Z.log2 (kept + Z.b2z away)) by (apply Z.log2_le_pow2; lia). apply Z.ltb_ge. lia.
  - assert (K1 : kept = 2 ^ p c - 1 /\ away = true) by (destruct away; simpl in R; lia). destruct K1 as [-> ->]. destruct T as [T|T]; [lia|]. subst h.
    assert (G : u < 0 + emin c - p c). { destruct (Z.le_gt_cases (0 + emin c - p c) u) as [G|G]; auto. destruct (X G). easy. }
    destruct (C G) as [[E1 E2] AW]. fold k in E1, E2, AW. destruct RN as [RN|RN]; [|unfold away_rule in AW; now rewrite RN in AW]. rewrite RN. assert (KP : 0 < k) by (unfold k; lia). split; [auto|]. rewrite Z.eqb_refl. cbn [andb].
    pose proof (pow2_pos k ltac:(lia)) as PK. assert (HK : 2 ^ k = 2 * 2 ^ (k - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
    pose proof (pow2_pos (k - 1) ltac:(lia)) as PK1. set (rest := Z.abs n - (2 ^ p c - 1) * 2 ^ k) in *.
    unfold away_rule in AW. fold rest in AW. rewrite RN in AW || idtac.
    assert (RB : 0 <= rest < 2 ^ k) by (unfold rest; lia).
    assert (GD : 2 ^ k <= 2 * rest). { symmetry in AW. apply orb_prop in AW. destruct AW as [AW|AW]; [apply Z.ltb_lt in AW; lia|]. apply andb_prop in AW. destruct AW as [AW _]. apply Z.eqb_eq in AW. lia. }
    assert (PH : 2 ^ p c = 2 * 2 ^ (p c - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia). pose proof (pow2_pos (p c - 1) ltac:(lia)) as PP1.
    assert (L : l = p c + k - 1).
    { unfold l. apply Z.log2_unique; [lia|]. replace (Z.succ (p c + k - 1)) with (p c + k) by lia. replace (p c + k - 1) with ((p c - 1) + k) by lia.
      rewrite !Z.pow_add_r by lia.
      unfold rest in *. rewrite PH in *. rewrite HK in *. clear - E1 E2 PP1 PK1. split; nia. }
    rewrite L. replace (p c + k - 1 + u - p c - u) with (k - 1) by lia. set (d := k - 1) in *.
    set (kk := 2 ^ (p c + 1) - 1). assert (B : kk * 2 ^ d <= Z.abs n < (kk + 1) * 2 ^ d) by (unfold kk; rewrite PP; unfold rest in GD; rewrite HK in E2, GD; clear - E2 GD; lia).
    assert (LG1 : Z.log2 kk = p c) by (unfold kk; apply Z.log2_unique; [lia|]; rewrite <- Z.add_1_r; lia).
    assert (LG2 : Z.log2 (kk + 1) = p c + 1) by (unfold kk; replace (2 ^ (p c + 1) - 1 + 1) with (2 ^ (p c + 1)) by lia; apply Z.log2_pow2; lia).
    destruct (Z.eq_dec d 0) as [D|D].
    + rewrite D in *. change (2 ^ 0) with 1 in *. rewrite round_div_unfold. destruct (Z.leb_spec 0 0); [|lia].
      replace (Z.abs (n * 2 ^ - 0)) with kk by (change (- 0) with 0; change (2 ^ 0) with 1; lia). rewrite LG1.
      destruct (Z.ltb_spec (4 * rest) (3 * 2 ^ k)); [|lia]. apply Z.ltb_lt. unfold k, d in *. lia.
    + pose proof (round_div_kept RNE n kk d ltac:(lia) ltac:(unfold kk; lia) B) as RK. rewrite RK.
      set (aw := away_rule RNE (n <? 0) (Z.abs n) kk d). assert (A : Z.abs (with_sign (n <? 0) (kk + Z.b2z aw)) = kk + Z.b2z aw) by (unfold with_sign, kk; destruct (n <? 0), aw; simpl; lia). rewrite A.
      assert (AQ : aw = (3 * 2 ^ k <=? 4 * rest)).
      { assert (OD : Z.odd kk = true) by (unfold kk; rewrite PP, Z.odd_sub, Z.odd_mul; reflexivity).
        unfold aw, away_rule. rewrite OD, andb_true_r.
        assert (F1 : kk * 2 ^ d = 2 * (2 ^ p c * 2 ^ d) - 2 ^ d) by (unfold kk; rewrite PP; ring).
        assert (F2 : rest = Z.abs n - (2 * (2 ^ p c * 2 ^ d) - 2 * 2 ^ d)) by (unfold rest; rewrite HK; ring).
        rewrite F1, F2, HK. clear -B F1. rewrite Z.mul_add_distr_r, F1 in B. clear F1. revert B. generalize (2 ^ p c * 2 ^ d). intros AD. generalize (2 ^ d). intros D B. clear k d kk.
        destruct (Z.ltb_spec D (2 * (Z.abs n - (2 * AD - D)))), (Z.eqb_spec D (2 * (Z.abs n - (2 * AD - D)))), (Z.leb_spec (3 * (2 * D)) (4 * (Z.abs n - (2 * AD - 2 * D)))); cbn [orb]; reflexivity || (exfalso; lia). }
      rewrite AQ. rewrite (Z.ltb_antisym (3 * 2 ^ k) (4 * rest)). destruct (3 * 2 ^ k <=? 4 * rest); cbn [Z.b2z negb]; rewrite ?Z.add_0_r, ?LG1, ?LG2.
      * apply Z.ltb_ge. unfold k, d in *. lia.
      * apply Z.ltb_lt. unfold k, d in *. lia.
Qed.

Section Sound.
Variables (ct : circuit) (c : conversion) (x : ending) (q : to_round) (v : env).
Let m := widths_of ct.
Hypothesis OK : ending_ok m c x = true.
Hypothesis CK : Forall (holds ct) (kept_claims c x q).
Hypothesis CO : Forall (holds ct) (outcome_claims c x q).
Hypothesis SOL : solution ct v.
Hypothesis NODES : forall i, In i (ending_nodes x) -> fits m v i.
Let T := truth m v.
Let W := value m v.

Lemma ending_parts : 0 <= p c /\ emin c <= emax c /\ (tiny c = true -> 0 < p c /\ (rho c = RNE \/ rho c = RZ)) /\ bits_below (outcome x) = p c /\ width_in m (kept x) = p c + 1.
Proof.
  unfold ending_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[A B] C] D] E]. apply Z.leb_le in A, B. apply Z.eqb_eq in D, E.
  split; [auto|]. split; [auto|]. split; [|auto]. intros Q. rewrite Q in C. cbn [negb orb] in C. apply andb_prop in C. destruct C as [C1 C2]. apply Z.ltb_lt in C1. split; auto. destruct (rho c); auto; easy.
Qed.

(** The count of units that is rounded. *)
Record counted (n u : Z) : Prop := {
  c_size : W (size q) = Z.abs n; c_zero : T (no_size q) = (n =? 0); c_down : T (down q) = (n <? 0); c_unit : W (unit q) = u
}.

Section Kept.
Variables (n u : Z).
Hypothesis N : counted n u.
Hypothesis B : Z.abs n <= bound q.
Hypothesis KN : forallb T (known q) = true.

Lemma kept_is : kept_facts c n u (v (kept x)) (v (height x)) (v (away x) =? 1).
Proof.
  destruct N as [SZ ZR DN UT]. destruct ending_parts as [P [_ [_ [_ WK]]]].
  assert (FK : fits m v (kept x)) by (apply NODES; simpl; auto). unfold fits, inw in FK. rewrite WK in FK.
  assert (H0 : 0 <= v (height x)) by (apply NODES; simpl; auto).
  assert (Q : forall k r, nth_error (kept_claims c x q) k = Some r -> forallb T (given r) = true -> T (goal r) = true).
  { intros k r Nt G. rewrite Forall_forall in CK. exact (CK r (nth_error_In _ _ Nt) v SOL G). }
  set (tb := bound q) in *. assert (TB : 0 <= tb) by lia.
  pose proof (deciding_some (rho c)) as RB.
  assert (MR : Z.abs n < 2 ^ (most c q - 1 - deciding_bits (rho c))).
  { unfold most. fold tb. replace (Z.log2 (tb + 1) + 2 + deciding_bits (rho c) - 1 - deciding_bits (rho c)) with (Z.succ (Z.log2 (tb + 1))) by lia. pose proof (Z.log2_spec (tb + 1) ltac:(lia)). lia. }
  assert (MO : Z.abs n < 2 ^ (most c q - 2)) by (eapply Z.lt_le_trans; [exact MR|]; apply Z.pow_le_mono_r; lia).
  assert (M3 : 3 <= most c q) by (unfold most; fold tb; pose proof (Z.log2_nonneg (tb + 1)); lia).
  assert (N0 : n <> 0 -> T (Negation (no_size q)) = true) by (intros Nz; unfold T; cbn [truth]; fold T; rewrite ZR; now destruct (Z.eqb_spec n 0)).
  assert (LK : W (last_kept c x) = v (height x) + emin c - p c) by (unfold W; cbn [value last_kept]; lia).
  constructor; auto.
  - intros Nz. assert (H : T (null x) = true). { apply (Q 0%nat _ eq_refl). cbn [given forallb]. rewrite KN, ZR, Nz. reflexivity. }
    unfold T in H. cbn [truth null value] in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. apply negb_true_iff in H2. auto.
  - intros Nz. assert (H : T (normal c x) = true). { apply (Q 1%nat _ eq_refl). cbn [given forallb]. rewrite KN, (N0 Nz). reflexivity. }
    unfold T in H. cbn [truth normal value] in H. apply orb_prop in H. destruct H as [H|H]; [left; now apply Z.leb_le|right; now apply Z.eqb_eq].
  - intros Nz L.
    assert (G : T (AtMost (last_kept c x) (unit q)) = true) by (unfold T; cbn [truth]; fold W; rewrite LK, UT; apply Z.leb_le; lia).
    assert (H := Q 2%nat _ eq_refl). cbn [given forallb goal] in H. rewrite KN, (N0 Nz), G in H. specialize (H eq_refl). unfold T in H.
    cbn [truth value left] in H. fold W in H. rewrite LK, UT, SZ in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. apply negb_true_iff in H2. split; auto.
    rewrite H1. set (k := u - (v (height x) + emin c - p c)) in *. destruct (Z.le_gt_cases k (p c + 1)) as [J|J]. now rewrite Z.min_l by lia.
    exfalso. rewrite Z.min_r in H1 by lia. nia.
  - intros Nz L. set (k := v (height x) + emin c - p c - u) in *.
    assert (G : T (Less (unit q) (last_kept c x)) = true) by (unfold T; cbn [truth]; fold W; rewrite LK, UT; apply Z.ltb_lt; lia).
    assert (H := Q 3%nat _ eq_refl). cbn [given forallb goal] in H. rewrite KN, (N0 Nz), G in H. specialize (H eq_refl).
    assert (A := Q 4%nat _ eq_refl). cbn [given forallb goal] in A. rewrite KN, (N0 Nz), G in A. specialize (A eq_refl).
    assert (R : W (right c x q) = Z.min k (most c q)) by (unfold W; cbn [value right]; fold W; rewrite LK, UT; reflexivity).
    unfold T in H. cbn [truth value] in H. fold W in H. rewrite R, SZ in H. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H.
    assert (K0 : 0 < k) by (unfold k; lia). set (w := most c q) in *.
    assert (PB : 2 ^ w = 4 * 2 ^ (w - 2)) by (replace w with (2 + (w - 2)) at 1 by lia; now rewrite Z.pow_add_r by lia).
    split. { apply (shift_clamped _ _ w); try lia. }
    unfold T in A. rewrite truth_iff in A. apply eqb_prop in A. cbn [truth] in A. rewrite A. clear A Q.
    assert (SAME : forall one rest, one = 2 ^ Z.min k w -> rest = Z.abs n - v (kept x) * 2 ^ Z.min k w ->
       rest = Z.abs n - v (kept x) * 2 ^ k /\ (one = 2 ^ k \/ (2 ^ w = one /\ one <= 2 ^ k /\ 4 * rest < one /\ rest * 2 ^ deciding_bits (rho c) < one))).
    { intros one rest O Rr. destruct (Z.le_gt_cases k w) as [J|J]. { rewrite Z.min_l in * by lia. auto. }
      rewrite Z.min_r in * by lia. assert (v (kept x) = 0) by nia. rewrite H1 in *. split; [lia|]. right.
      assert (2 ^ w <= 2 ^ k) by (apply Z.pow_le_mono_r; lia).
      assert (PR : 2 ^ w = 2 * (2 ^ (w - 1 - deciding_bits (rho c)) * 2 ^ deciding_bits (rho c))).
      { rewrite <- Z.pow_add_r, <- Z.pow_succ_r by (unfold w, most; pose proof (Z.log2_nonneg (bound q + 1)); lia). f_equal. lia. }
      pose proof (pow2_pos (deciding_bits (rho c)) ltac:(lia)). subst rest one. repeat split; try lia. rewrite PR. nia. }
    destruct (SAME _ _ eq_refl eq_refl) as [S1 S2].
    assert (OD : (Z.odd (v (kept x))) = ((v (kept x) / 2 ^ 0) mod 2 ^ 1 =? 1)).
    { rewrite Z.pow_0_r, Z.div_1_r. change (2 ^ 1) with 2. rewrite Zmod_odd. now destruct (Z.odd (v (kept x))). }
    assert (RT : W (rest_term c x q) = Z.abs n - v (kept x) * 2 ^ Z.min k w) by (unfold W, rest_term; cbn [value]; fold W; now rewrite R, SZ).
    assert (OT : W (one_term c x q) = 2 ^ Z.min k w) by (unfold W, one_term; cbn [value]; fold W; rewrite R; lia).
    unfold away_formula, away_rule. rewrite <- S1. fold T in DN.
    destruct (rho c); cbn [truth value]; fold W; fold T; rewrite ?RT, ?OT, ?DN, <- ?OD, <- ?Z.negb_odd; auto.
    + set (rest := Z.abs n - v (kept x) * 2 ^ Z.min k w) in *. replace (2 * rest) with (rest + rest) by lia. destruct S2 as [-> |[S2 [S3 [S4 _]]]]; auto.
      assert (RP : 0 <= rest) by (unfold rest; lia).
      destruct (Z.ltb_spec (2 ^ Z.min k w) (rest + rest)); [lia|]. destruct (Z.eqb_spec (2 ^ Z.min k w) (rest + rest)); [lia|].
      destruct (Z.ltb_spec (2 ^ k) (rest + rest)); [lia|]. destruct (Z.eqb_spec (2 ^ k) (rest + rest)); [lia|]. reflexivity.
    + set (rest := Z.abs n - v (kept x) * 2 ^ Z.min k w) in *. replace (2 * rest) with (rest + rest) by lia. destruct S2 as [-> |[S2 [S3 [S4 _]]]]; auto.
      assert (RP : 0 <= rest) by (unfold rest; lia).
      destruct (Z.leb_spec (2 ^ Z.min k w) (rest + rest)); [lia|]. destruct (Z.leb_spec (2 ^ k) (rest + rest)); [lia|]. reflexivity.
    + set (rest := Z.abs n - v (kept x) * 2 ^ Z.min k w) in *. rewrite random_carry_at by lia. destruct S2 as [-> |[S2 [S3 [_ S4]]]]; auto.
      cbn [deciding_bits] in S4. destruct (Z.mod_pos_bound word (2 ^ Z.pos bits)) as [L1 L2]; [apply pow2_pos; lia|].
      set (lack := 2 ^ Z.pos bits - word mod 2 ^ Z.pos bits) in *. assert (L3 : 1 <= lack) by (unfold lack; lia).
      destruct (Z.leb_spec (lack * 2 ^ Z.min k w) (rest * 2 ^ Z.pos bits)); [nia|]. destruct (Z.leb_spec (lack * 2 ^ k) (rest * 2 ^ Z.pos bits)); [nia|]. reflexivity.
Qed.

(** The value of the formula of tininess, where it counts. *)
Lemma tiny_is : tiny c = true -> n <> 0 -> 2 ^ p c <= v (kept x) + Z.b2z (v (away x) =? 1) ->
  T (tiny_formula c x q) = (let k := v (height x) + emin c - p c - u in (v (kept x) =? 2 ^ p c - 1) && (4 * (Z.abs n - v (kept x) * 2 ^ k) <? 3 * 2 ^ k)).
Proof.
  intros TI Nz R. destruct N as [SZ ZR DN UT]. destruct ending_parts as [P [_ [RN _]]]. specialize (RN TI). destruct RN as [P1 RN].
  destruct (tiny_kept c n u _ _ _ P1 RN kept_is Nz R) as [KP _]. cbv zeta. unfold T, tiny_formula. rewrite TI. cbn [truth value]. fold W.
  destruct (Z.eqb_spec (v (kept x)) (2 ^ p c - 1)) as [Q|Q]; [|reflexivity]. cbn [andb]. specialize (KP Q).
  set (k := v (height x) + emin c - p c - u) in *.
  assert (LK : W (last_kept c x) = v (height x) + emin c - p c) by (unfold W; cbn [value last_kept]; lia).
  assert (RI : W (right c x q) = Z.min k (most c q)) by (unfold W; cbn [value right]; fold W; rewrite LK, UT; reflexivity).
  assert (RT : W (rest_term c x q) = Z.abs n - v (kept x) * 2 ^ Z.min k (most c q)) by (unfold W, rest_term; cbn [value]; fold W; now rewrite RI, SZ).
  assert (OT : W (one_term c x q) = 2 ^ Z.min k (most c q)) by (unfold W, one_term; cbn [value]; fold W; rewrite RI; lia).
  rewrite RT, OT. destruct (Z.le_gt_cases k (most c q)) as [J|J]; [now rewrite Z.min_l by lia|].
  rewrite Z.min_r by lia. exfalso.
  destruct (k_cut _ _ _ _ _ _ kept_is Nz ltac:(unfold k in KP; lia)) as [[E1 E2] AW]. fold k in E1, E2, AW.
  assert (R0 : deciding_bits (rho c) = 1) by (destruct RN as [-> | ->]; reflexivity).
  assert (MO : Z.abs n < 2 ^ (most c q - 2)).
  { unfold most. rewrite R0. replace (Z.log2 (bound q + 1) + 2 + 1 - 2) with (Z.succ (Z.log2 (bound q + 1))) by lia. pose proof (Z.log2_spec (bound q + 1) ltac:(lia)). lia. }
  assert (2 ^ (most c q - 2) <= 2 ^ (k - 2)) by (apply Z.pow_le_mono_r; lia).
  assert (M3 : 3 <= most c q) by (unfold most; rewrite R0; pose proof (Z.log2_nonneg (bound q + 1)); lia).
  assert (HK : 2 ^ k = 4 * 2 ^ (k - 2)) by (replace k with (2 + (k - 2)) at 1 by lia; now rewrite Z.pow_add_r by lia).
  assert (K0 : v (kept x) = 0) by (pose proof (pow2_pos (p c) P); nia). rewrite K0 in *. rewrite Z.mul_0_l in *. pose proof (pow2_pos (p c) P).
  unfold away_rule in AW. destruct RN as [RN|RN]; rewrite RN in AW; [|rewrite AW in R; simpl in R; lia]. rewrite Z.mul_0_l, Z.sub_0_r in AW.
  destruct (Z.ltb_spec (2 ^ k) (2 * Z.abs n)); [lia|]. destruct (Z.eqb_spec (2 ^ k) (2 * Z.abs n)); [lia|]. cbn [andb orb] in AW. rewrite AW in R. simpl in R. lia.
Qed.

Lemma tiny_direct : tiny c = true -> n <> 0 -> 2 ^ p c <= v (kept x) + Z.b2z (v (away x) =? 1) -> T (tiny_formula c x q) = is_tiny c n u.
Proof.
  intros TI Nz R. rewrite tiny_is by auto. destruct ending_parts as [P [_ [RN _]]]. destruct (RN TI) as [P1 RN1]. symmetry. apply (tiny_kept c n u _ _ _ P1 RN1 kept_is Nz R).
Qed.
End Kept.

(** What is known where the sum is rounded. *)
Record finished (s : bool) (n u : Z) : Prop := {
  f_kept : kept_facts c n u (v (kept x)) (v (height x)) (v (away x) =? 1);
  f_zero : T (no_size q) = (n =? 0); f_down : T (down q) = (n <? 0); f_sign : T (sum_sign q) = s;
  f_tiny : tiny c = true -> n <> 0 -> 2 ^ p c <= v (kept x) + Z.b2z (v (away x) =? 1) -> T (tiny_formula c x q) = is_tiny c n u;
  f_known : tiny c = true -> forallb T (known q) = true
}.

Lemma outcome_nth k r : nth_error (outcome_claims c x q) k = Some r -> forallb T (given r) = true -> T (goal r) = true.
Proof. intros Nt G. rewrite Forall_forall in CO. exact (CO r (nth_error_In _ _ Nt) v SOL G). Qed.

Lemma nan_is : (v (nan (outcome x)) =? 1) = T (is_nan q).
Proof. pose proof (outcome_nth 0%nat _ eq_refl eq_refl) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. now apply eqb_prop in H. Qed.

Lemma usual_is s n u : T (is_nan q) = false -> T (is_inf q) = false -> finished s n u -> forallb T (usual c x q) = true.
Proof.
  intros A B [KF NZ _ _ _ _]. unfold usual. cbn [forallb].
  assert (U1 : T (Either (Negation (no_size q)) (null x)) = true).
  { unfold T; cbn [truth]; fold T. rewrite NZ. destruct (Z.eqb_spec n 0) as [Q|Q]; auto. destruct (k_zero _ _ _ _ _ _ KF Q) as [K1 K2].
    unfold T; cbn [truth null value]. rewrite K1, K2. reflexivity. }
  assert (U2 : T (Either (no_size q) (normal c x)) = true).
  { unfold T; cbn [truth]; fold T. rewrite NZ. destruct (Z.eqb_spec n 0) as [Q|Q]; auto. destruct (k_top _ _ _ _ _ _ KF Q) as [K|K];
    unfold T; cbn [truth normal value]. - apply Z.leb_le in K. rewrite K. reflexivity. - rewrite K. now rewrite orb_true_r. }
  rewrite U1, U2. unfold T at 1 2. cbn [truth]. fold T. now rewrite A, B.
Qed.

Lemma inf_not_num : (v (nan (outcome x)) =? 1) = false -> (v (inf (outcome x)) =? 1) = false -> T (is_nan q) = false /\ T (is_inf q) = false.
Proof.
  intros A B. rewrite nan_is in A. split; auto. destruct (T (is_inf q)) eqn:Q; auto.
  pose proof (outcome_nth 1%nat _ eq_refl) as H. cbn [given forallb goal] in H. rewrite Q in H. unfold T at 1 in H. cbn [truth] in H. fold T in H. rewrite A in H. specialize (H eq_refl).
  unfold T in H. cbn [truth] in H. apply andb_prop in H. destruct H as [H _]. congruence.
Qed.

Theorem finish (R : val) :
  (T (is_nan q) = true -> R = NaN) -> (T (is_nan q) = false -> T (is_inf q) = true -> R = Inf (T (minus_inf q))) ->
  (T (is_nan q) = false -> T (is_inf q) = false -> exists s n u, R = convert c s n u /\ finished s n u) ->
  same_val R (val_in v (outcome x)).
Proof.
  intros SN SI FI. pose proof nan_is as R1.
  unfold val_in. rewrite R1. destruct (T (is_nan q)) eqn:QN. { now rewrite SN. }
  assert (NN : T (Negation (is_nan q)) = true) by (unfold T; cbn [truth]; fold T; now rewrite QN).
  destruct (T (is_inf q)) eqn:QI.
  { rewrite SI by auto. pose proof (outcome_nth 1%nat _ eq_refl) as H. cbn [given forallb goal] in H. rewrite NN, QI in H. specialize (H eq_refl).
    unfold T in H. cbn [truth] in H. apply andb_prop in H. destruct H as [H1 H2]. change (truth m v (Iff (Is (sign (outcome x))) (minus_inf q)) = true) in H2.
    rewrite truth_iff in H2. apply eqb_prop in H2. cbn [truth] in H2. rewrite H1, H2. reflexivity. }
  destruct (FI eq_refl eq_refl) as [s [n [u [-> FN]]]]. pose proof (usual_is s n u QN QI FN) as US. destruct FN as [KF NZ DN SS TY KK].
  assert (ST : forallb T (settled c x q) = true) by (unfold settled; rewrite forallb_app, US; destruct (tiny c); auto).
  destruct ending_parts as [P [M [RN [BB _]]]].
  eapply same_val_trans. { apply (convert_result _ _ _ _ _ _ _ P M KF). }
  set (kk := v (kept x)) in *. set (hh := v (height x)) in *. set (aw := (v (away x) =? 1)) in *.
  assert (GR : W (grown x) = kk + Z.b2z aw) by (unfold W, grown; cbn [value truth]; fold kk aw; now destruct aw).
  assert (CA : T (carried c x) = carries c kk aw) by (unfold T, carried, carries; cbn [truth]; fold W; rewrite GR; reflexivity).
  assert (RA : W (raised c x) = hh + Z.b2z (carries c kk aw)) by (unfold W, raised; cbn [value]; fold T; rewrite CA; fold hh; now destruct (carries c kk aw)).
  assert (ZF : T (zero_formula c x q) = rounded_zero c (tiny c && is_tiny c n u) kk aw).
  { assert (EQ : T (Equal (grown x) (Num_ 0)) = (kk + Z.b2z aw =? 0)) by (unfold T; cbn [truth]; fold W; rewrite GR; reflexivity).
    assert (LT : T (Less (grown x) (Num_ (2 ^ p c))) = negb (2 ^ p c <=? kk + Z.b2z aw)) by (unfold T; cbn [truth]; fold W; rewrite GR, <- Z.ltb_antisym; reflexivity).
    unfold zero_formula, rounded_zero. change (T (Either ?a ?b)) with (T a || T b). rewrite EQ. f_equal. destruct (flushes c) eqn:FL; [|reflexivity].
    change (T (Either ?a ?b)) with (T a || T b). rewrite LT. cbn [andb].
    destruct (Z.leb_spec (2 ^ p c) (kk + Z.b2z aw)) as [G|G]; cbn [negb orb]; [|reflexivity].
    destruct (tiny c) eqn:TC; [|unfold T, tiny_formula; rewrite TC; reflexivity]. cbn [andb].
    destruct (Z.eq_dec n 0) as [Q|Q]; [|now apply TY]. exfalso. destruct (k_zero _ _ _ _ _ _ KF Q) as [K1 K2]. rewrite K1, K2 in G. simpl in G. pose proof (pow2_pos (p c) P). lia. }
  assert (OF : T (over_formula c x) = overflows c kk hh aw).
  { unfold T, over_formula, overflows; cbn [truth]. fold W. rewrite GR, RA. reflexivity. }
  assert (TI : T (to_infinity_formula c q) = to_infinity c (n <? 0)).
  { unfold T, to_infinity_formula, to_infinity. destruct (overflow c); try reflexivity. destruct (rho c); cbn [truth]; fold T; rewrite ?DN; reflexivity. }
  assert (ZS : T (zero_sign_formula c q) = keeps_sign c (n =? 0) && s).
  { unfold T, zero_sign_formula, keeps_sign. destruct (zsign c); cbn [truth]; fold T; rewrite ?SS, ?NZ; auto. }
  set (bl := tiny c && is_tiny c n u) in *.
  set (ov := Both (Negation (zero_formula c x q)) (Both (over_formula c x) (to_infinity_formula c q))).
  assert (OV : T ov = negb (rounded_zero c bl kk aw) && (overflows c kk hh aw && to_infinity c (n <? 0))).
  { unfold ov, T. cbn [truth]. fold T. now rewrite ZF, OF, TI. }
  assert (R3 : (v (inf (outcome x)) =? 1) = T ov).
  { pose proof (outcome_nth 2%nat _ eq_refl ST) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. now apply eqb_prop in H. }
  assert (R4 : (v (sign (outcome x)) =? 1) = (rounded_zero c bl kk aw && (keeps_sign c (n =? 0) && s) || negb (rounded_zero c bl kk aw) && (n <? 0))).
  { pose proof (outcome_nth 3%nat _ eq_refl ST) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. cbn [truth] in H. fold T in H. rewrite ZF, ZS, DN in H. exact H. }
  assert (GO : T ov = false -> v (significand (outcome x)) = (if rounded_zero c bl kk aw then 0 else if overflows c kk hh aw then 2 ^ (p c + 1) - 1 else if carries c kk aw then 2 ^ p c else kk + Z.b2z aw) /\
     v (code (outcome x)) + low (outcome x) = (if rounded_zero c bl kk aw then emin c else if overflows c kk hh aw then emax c else emin c + (hh + Z.b2z (carries c kk aw)))).
  { intros NO. assert (G : forallb T (Negation ov :: settled c x q) = true) by (cbn [forallb]; rewrite ST; unfold T; cbn [truth]; fold T; now rewrite NO).
    pose proof (outcome_nth 4%nat _ eq_refl G) as H4. pose proof (outcome_nth 5%nat _ eq_refl G) as H5. cbn [goal] in H4, H5.
    unfold T in H4, H5. cbn [truth value exponent] in H4, H5. fold T W in H4, H5. rewrite ZF, OF, ?CA, ?GR, ?RA in H4, H5. apply Z.eqb_eq in H4, H5. auto. }
  unfold result. rewrite R3. rewrite OV in *. destruct (rounded_zero c bl kk aw) eqn:QZ; cbn [negb andb orb] in R4, GO |- *.
  - destruct (GO eq_refl) as [H4 H5]. rewrite orb_false_r in R4. unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split.
  - destruct (overflows c kk hh aw) eqn:QO; cbn [andb] in GO |- *.
    + destruct (to_infinity c (n <? 0)) eqn:QT. { simpl. now rewrite R4. }
      destruct (GO eq_refl) as [H4 H5]. unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split.
    + destruct (GO eq_refl) as [H4 H5].
      unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split; try lia. unfold V, signed, lsb; cbn [neg sig exp frac]. do 2 f_equal. lia.
Qed.
End Sound.
