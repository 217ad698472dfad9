(** From the cut points of a conversion to the number that it hands on: the magnitude that is kept, whether one is
    added to it, and the exponent.  The same for every design. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems.
Import ListNotations.
Open Scope Z_scope.

(** * Numbers that are written in two ways *)

Definition same (x y : num) : Prop := neg x = neg y /\ exp x = exp y /\ V x = V y.
Definition same_val (v w : val) : Prop :=
  match v, w with Num x, Num y => same x y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma same_refl v : same_val v v.
Proof. destruct v; simpl; auto. repeat split. Qed.

Lemma same_val_trans u v w : same_val u v -> same_val v w -> same_val u w.
Proof. destruct u, v, w; simpl; try easy; [intros [A [B C]] [D [E F]]; repeat split|]; congruence. Qed.

(** * The rounding of a signed magnitude *)

(** Whether one is added to the magnitude [kept] that is left of [m] after a shift right by [k]. *)
Definition away_rule (r : mode) (negative : bool) (m kept k : Z) : bool :=
  let rest := m - kept * 2 ^ k in
  match r with
  | RZ => false
  | RNE => (2 ^ k <? 2 * rest) || ((2 ^ k =? 2 * rest) && Z.odd kept)
  | RNA => 2 ^ k <=? 2 * rest
  | RO => negb (rest =? 0) && Z.even kept
  | RD => negb (rest =? 0) && negative
  | RU => negb (rest =? 0) && negb negative
  | SR n w => random_carry n w rest k
  end.

(** Where nothing is cut off, no word carries. *)
Lemma no_carry n w k : 0 <= k -> random_carry n w 0 k = false.
Proof.
  intros K. rewrite random_carry_at by lia. apply Z.leb_gt. pose proof (pow2_pos k K).
  destruct (Z.mod_pos_bound w (2 ^ Z.pos n)); [apply pow2_pos|]; nia.
Qed.

Definition with_sign (s : bool) (x : Z) : Z := if s then - x else x.

Lemma round_div_kept r n kept k : 0 < k -> 0 <= kept -> kept * 2 ^ k <= Z.abs n < (kept + 1) * 2 ^ k ->
  round_div r n k = with_sign (n <? 0) (kept + Z.b2z (away_rule r (n <? 0) (Z.abs n) kept k)).
Proof.
  intros K P B. pose proof (pow2_pos k ltac:(lia)) as D. rewrite round_div_unfold. unfold with_sign. destruct (Z.leb_spec k 0); [lia|].
  set (d := 2 ^ k) in *. set (rest := Z.abs n - kept * d) in *. assert (R : 0 <= rest < d) by (unfold rest; nia).
  destruct (Z.ltb_spec n 0) as [N|N].
  - assert (E : n = - (kept * d + rest)) by (unfold rest; lia).
    destruct (Z.eq_dec rest 0) as [Z0|Z0].
    + assert (Q : n / d = - kept) by (symmetry; apply Z.div_unique with 0; [left|]; lia).
      assert (M : n mod d = 0) by (rewrite Z.mod_eq, Q; lia). rewrite M, Q. change (0 =? 0) with true. cbv iota.
      unfold away_rule. fold d. fold rest. rewrite Z0. change (2 * 0) with 0. change (0 =? 0) with true. destruct r; cbn [Z.b2z negb andb]; try lia.
      * destruct (Z.ltb_spec d 0), (Z.eqb_spec d 0); cbn [Z.b2z orb andb negb]; lia.
      * destruct (Z.leb_spec d 0); cbn [Z.b2z orb andb negb]; lia.
      * rewrite no_carry by lia. cbn [Z.b2z]. lia.
    + assert (Q : n / d = - kept - 1) by (symmetry; apply Z.div_unique with (d - rest); [left|]; lia).
      assert (M : n mod d = d - rest) by (rewrite Z.mod_eq, Q; lia). rewrite M, Q.
      destruct (Z.eqb_spec (d - rest) 0); [lia|]. unfold away_rule. fold d. fold rest.
      destruct (Z.eqb_spec rest 0); [lia|]. cbn [negb andb].
      destruct r; cbn [Z.b2z]; try lia.
      * replace (Z.even (- kept - 1)) with (Z.odd kept) by (rewrite <- Z.negb_odd, Z.odd_sub, Z.odd_opp; now destruct (Z.odd kept)).
        destruct (Z.compare_spec (2 * (d - rest)) d), (Z.ltb_spec d (2 * rest)), (Z.eqb_spec d (2 * rest)); try lia;
          destruct (Z.odd kept); cbn [Z.b2z orb andb negb]; lia.
      * destruct (Z.compare_spec (2 * (d - rest)) d), (Z.leb_spec d (2 * rest)); try lia; cbn [Z.b2z orb andb negb]; lia.
      * replace (Z.even (- kept - 1)) with (negb (Z.even kept)) by (rewrite <- !Z.negb_odd, Z.odd_sub, Z.odd_opp; now destruct (Z.odd kept)).
        destruct (Z.even kept); cbn [Z.b2z orb andb negb]; lia.
      * replace (d - (d - rest)) with rest by lia. destruct (random_carry _ _ _ _); cbn [Z.b2z]; lia.
  - assert (E : n = kept * d + rest) by (unfold rest; lia).
    assert (Q : n / d = kept) by (symmetry; apply Z.div_unique with rest; [left|]; lia).
    assert (M : n mod d = rest) by (rewrite Z.mod_eq, Q; lia). rewrite M, Q. unfold away_rule. fold d. fold rest.
    destruct (Z.eqb_spec rest 0) as [Z0|Z0].
    + rewrite Z0. change (2 * 0) with 0. change (0 =? 0) with true. destruct r; cbn [Z.b2z negb andb]; try lia.
      * destruct (Z.ltb_spec d 0), (Z.eqb_spec d 0); cbn [Z.b2z orb andb negb]; lia.
      * destruct (Z.leb_spec d 0); cbn [Z.b2z orb andb negb]; lia.
      * rewrite no_carry by lia. cbn [Z.b2z]. lia.
    + cbn [negb andb]. destruct r; cbn [Z.b2z]; try lia.
      * rewrite <- Z.negb_odd. destruct (Z.compare_spec (2 * rest) d), (Z.ltb_spec d (2 * rest)), (Z.eqb_spec d (2 * rest)); try lia;
          destruct (Z.odd kept); cbn [Z.b2z orb andb negb]; lia.
      * destruct (Z.compare_spec (2 * rest) d), (Z.leb_spec d (2 * rest)); try lia; cbn [Z.b2z orb andb negb]; lia.
      * destruct (Z.even kept); cbn [Z.b2z orb andb negb]; lia.
      * destruct (random_carry _ _ _ _); cbn [Z.b2z]; lia.
Qed.

(** * The rounded magnitude of [n * 2^u]: [kept], whether one is added ([away]), and [h], the code of its exponent *)

Record kept_facts (c : conversion) (n u kept h : Z) (away : bool) : Prop := {
  k_range : 0 <= kept < 2 ^ (p c + 1);
  k_h : 0 <= h;
  k_zero : n = 0 -> kept = 0 /\ away = false;
  k_top : n <> 0 -> 2 ^ p c <= kept \/ h = 0;
  k_exact : n <> 0 -> h + emin c - p c <= u -> kept = Z.abs n * 2 ^ (u - (h + emin c - p c)) /\ away = false;
  k_cut : n <> 0 -> u < h + emin c - p c -> let k := h + emin c - p c - u in
    kept * 2 ^ k <= Z.abs n < (kept + 1) * 2 ^ k /\ away = away_rule (rho c) (n <? 0) (Z.abs n) kept k
}.

(** The exponent of the last kept bit. *)
Lemma kept_last_bit c n u kept h away : 0 <= p c -> kept_facts c n u kept h away -> n <> 0 ->
  last_bit c n u = h + emin c - p c.
Proof.
  intros P [R H Z0 T X C] N. specialize (T N). specialize (X N). specialize (C N). unfold last_bit.
  destruct (Z.eqb_spec n 0); [easy|]. set (l := Z.log2 (Z.abs n)) in *. set (ex := h + emin c - p c) in *.
  assert (L : 0 < Z.abs n) by lia. destruct (Z.log2_spec (Z.abs n) L) as [L1 L2]. fold l in L1, L2. pose proof (Z.log2_nonneg (Z.abs n)) as L0. fold l in L0.
  assert (PP : 2 ^ (p c + 1) = 2 * 2 ^ p c) by (rewrite Z.pow_add_r by lia; lia). pose proof (pow2_pos (p c) P) as P0.
  assert (B : 2 ^ p c <= kept -> l + u = ex + p c).
  { intros K. destruct (Z.le_gt_cases ex u) as [G|G].
    - destruct (X G) as [E _]. pose proof (pow2_pos (u - ex) ltac:(lia)). assert (l = p c - (u - ex)); [|lia]. unfold l.
      destruct (Z.le_gt_cases (u - ex) (p c)) as [Q|Q].
      + apply Z.log2_unique; [lia|]. assert (E1 : 2 ^ p c = 2 ^ (p c - (u - ex)) * 2 ^ (u - ex)) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
        assert (E2 : 2 ^ (p c + 1) = 2 ^ (Z.succ (p c - (u - ex))) * 2 ^ (u - ex)) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
        rewrite E1, E in K. rewrite E2, E in R. clear - K R H0. split; nia.
      + exfalso. assert (Q' : 2 ^ (p c + 1) <= 2 ^ (u - ex)) by (apply Z.pow_le_mono_r; lia). clear - E K R L PP P0 H0 Q'. nia.
    - destruct (C G) as [[E1 E2] _]. assert (l = p c + (ex - u)); [|lia]. unfold l. apply Z.log2_unique; [lia|]. fold ex in E1, E2.
      pose proof (pow2_pos (ex - u) ltac:(lia)).
      rewrite <- Z.add_1_r. replace (p c + (ex - u) + 1) with ((p c + 1) + (ex - u)) by lia. rewrite !(Z.pow_add_r 2 _ (ex - u)) by lia.
      clear - E1 E2 K R H0. split; nia. }
  destruct (Z.le_gt_cases (2 ^ p c) kept) as [K|K]; [specialize (B K); unfold ex in *; lia|].
  destruct T as [T|T]; [lia|]. assert (l + u < ex + p c); [|unfold ex in *; lia].
  destruct (Z.le_gt_cases ex u) as [G|G].
  - destruct (X G) as [E _]. apply Z.nle_gt. intros J. pose proof (pow2_pos (u - ex) ltac:(lia)).
    assert (Q : 2 ^ p c <= 2 ^ l * 2 ^ (u - ex)) by (rewrite <- Z.pow_add_r by lia; apply Z.pow_le_mono_r; lia). clear - E K L1 H0 Q. nia.
  - destruct (C G) as [[E1 E2] _]. fold ex in E1, E2. apply Z.nle_gt. intros J.
    assert (2 ^ (p c) * 2 ^ (ex - u) <= 2 ^ l) by (rewrite <- Z.pow_add_r by lia; apply Z.pow_le_mono_r; lia).
    pose proof (pow2_pos (ex - u) ltac:(lia)). clear - E1 E2 K L1 H0 H1. nia.
Qed.

Lemma kept_rounded c n u kept h away : 0 <= p c -> kept_facts c n u kept h away -> n <> 0 ->
  round_div (rho c) n (h + emin c - p c - u) = with_sign (n <? 0) (kept + Z.b2z away).
Proof.
  intros P F N. pose proof F as [R H Z0 T X C]. destruct (Z.le_gt_cases (h + emin c - p c) u) as [G|G].
  - destruct (X N G) as [E ->]. rewrite round_div_unfold. destruct (Z.leb_spec (h + emin c - p c - u) 0); [|lia].
    replace (- (h + emin c - p c - u)) with (u - (h + emin c - p c)) by lia. unfold with_sign. cbn [Z.b2z]. rewrite E. destruct (Z.ltb_spec n 0).
    + rewrite Z.abs_neq by lia. lia.
    + rewrite Z.abs_eq by lia. lia.
  - destruct (C N G) as [B ->]. apply round_div_kept; lia.
Qed.

(** * The number that a conversion hands on *)

(** [below]: what [tiny] flushes, [s]: the sign of a sum that is zero or becomes it. *)
Definition rounded_zero (c : conversion) (below : bool) (kept : Z) (away : bool) : bool :=
  let r := kept + Z.b2z away in (r =? 0) || flushes c && (negb (2 ^ p c <=? r) || below).

Definition carries (c : conversion) (kept : Z) (away : bool) : bool := 2 ^ (p c + 1) <=? kept + Z.b2z away.

Definition overflows (c : conversion) (kept h : Z) (away : bool) : bool :=
  (2 ^ p c <=? kept + Z.b2z away) && (emax c - emin c <? h + Z.b2z (carries c kept away)).

Definition to_infinity (c : conversion) (negative : bool) : bool :=
  match overflow c with
  | Infinite => true
  | Directed => match rho c with RNE | RNA | SR _ _ => true | RD => negative | RU => negb negative | RZ | RO => false end
  | Largest => false
  end.

Definition keeps_sign (c : conversion) (zero : bool) : bool :=
  match zsign c with Positive => false | IeeeSign => true | SumSign => negb zero end.

Definition result (c : conversion) (below s : bool) (n kept h : Z) (away : bool) : val :=
  let negative := n <? 0 in
  if rounded_zero c below kept away
  then Num {| neg := keeps_sign c (n =? 0) && s; sig := 0; exp := emin c; frac := p c |}
  else if overflows c kept h away
  then if to_infinity c negative then Inf negative else Num {| neg := negative; sig := 2 ^ (p c + 1) - 1; exp := emax c; frac := p c |}
  else Num {| neg := negative; sig := if carries c kept away then 2 ^ p c else kept + Z.b2z away;
              exp := emin c + h + Z.b2z (carries c kept away); frac := p c |}.

Theorem convert_result c s n u kept h away : 0 <= p c -> emin c <= emax c -> kept_facts c n u kept h away ->
  same_val (convert c s n u) (result c (tiny c && is_tiny c n u) s n kept h away).
Proof.
  intros P M F. pose proof F as [R H Z0 T X C]. destruct (Z.eq_dec n 0) as [->|N].
  { destruct (Z0 eq_refl) as [-> ->]. unfold convert, result, rounded_zero, keeps_sign. rewrite round_div_0. simpl. repeat split. }
  unfold convert. rewrite (kept_last_bit _ _ _ _ _ _ P F N), (kept_rounded _ _ _ _ _ _ P F N).
  specialize (T N). unfold result, rounded_zero, overflows, carries.
  set (r := kept + Z.b2z away). set (k := Z.b2z (2 ^ (p c + 1) <=? r)).
  assert (PP : 2 ^ (p c + 1) = 2 * 2 ^ p c) by (rewrite Z.pow_add_r by lia; lia). pose proof (pow2_pos (p c) P) as P0.
  assert (Rr : 0 <= r <= 2 ^ (p c + 1)) by (unfold r; destruct away; simpl; lia).
  assert (A : Z.abs (with_sign (n <? 0) r) = r) by (unfold with_sign; destruct (n <? 0); lia). rewrite A.
  assert (ZR : (with_sign (n <? 0) r =? 0) = (r =? 0)) by (unfold with_sign; destruct (n <? 0), (Z.eqb_spec r 0); lia). rewrite ZR.
  destruct (Z.eqb_spec r 0) as [Q|Q]. { simpl orb. cbv iota. unfold keeps_sign. apply same_refl. }
  assert (SG : (with_sign (n <? 0) r <? 0) = (n <? 0)) by (unfold with_sign; destruct (n <? 0) eqn:W; lia). rewrite SG. cbn [orb].
  set (own := Z.log2 r + (h + emin c - p c)).
  assert (OW : (own <? emin c) = negb (2 ^ p c <=? r) /\ (emax c <? own) = ((2 ^ p c <=? r) && (emax c - emin c <? h + k)) /\
    Z.max own (emin c) = emin c + h + k).
  { unfold own, k. destruct (Z.leb_spec (2 ^ (p c + 1)) r) as [L|L]; cbn [Z.b2z].
    - assert (Lg : Z.log2 r = p c + 1) by (replace r with (2 ^ (p c + 1)) by lia; apply Z.log2_pow2; lia). rewrite Lg.
      destruct (Z.leb_spec (2 ^ p c) r); [|lia]. cbn [negb andb]. repeat split; try lia.
    - destruct (Z.leb_spec (2 ^ p c) r) as [J|J]; cbn [negb andb].
      + assert (Lg : Z.log2 r = p c) by (apply Z.log2_unique; [lia|]; rewrite <- Z.add_1_r; lia). rewrite Lg. repeat split; try lia.
      + assert (h = 0) by (destruct T; auto; unfold r in *; destruct away; simpl in *; lia). subst h.
        assert (Lg : Z.log2 r < p c) by (apply Z.log2_lt_pow2; lia). repeat split; lia. }
  destruct OW as [O1 [O2 O3]]. rewrite O1, O2.
  destruct (flushes c && (negb (2 ^ p c <=? r) || tiny c && is_tiny c n u)). { unfold keeps_sign. apply same_refl. }
  fold k. destruct ((2 ^ p c <=? r) && (emax c - emin c <? h + k)).
  { assert (U : (0 <? n) = negb (n <? 0)) by lia. unfold is_infinite, to_infinity. rewrite U. destruct (match overflow c with Infinite => true | _ => _ end); apply same_refl. }
  rewrite O3. unfold same_val, same; cbn [neg exp sig frac]. repeat split.
  unfold V, signed, lsb; cbn [neg exp sig frac].
  replace (emin c + h + k - (emin c + h + k - (h + emin c - p c))) with (h + emin c - p c) by lia.
  unfold k. destruct (Z.leb_spec (2 ^ (p c + 1)) r) as [L|L]; cbn [Z.b2z].
  - replace (emin c + h + 1 - p c) with (1 + (h + emin c - p c)) by lia. rewrite Flocq.Core.Raux.bpow_plus. change (bp 1) with 2%R.
    assert (RR : r = 2 * 2 ^ p c) by lia. rewrite RR. destruct (n <? 0); rewrite ?opp_IZR, ?mult_IZR; ring.
  - replace (emin c + h + 0 - p c) with (h + emin c - p c) by lia. reflexivity.
Qed.

(** * Sums of numbers that are written in another way *)

Lemma same_zero x y : same x y -> is_zero x = is_zero y.
Proof.
  intros [_ [_ H]]. unfold V in H. apply scaled_zero in H. unfold is_zero, signed in *.
  destruct (neg x), (neg y), (Z.eqb_spec (sig x) 0), (Z.eqb_spec (sig y) 0); auto; exfalso;
  repeat match goal with H : context [?a =? 0] |- _ => destruct (Z.eqb_spec a 0) end; lia || easy.
Qed.

Lemma same_cut m u x y : same x y -> cut m u x = cut m u y.
Proof.
  intros [_ [_ H]]. apply eq_IZR. apply Rmult_eq_reg_r with (bp u). 2: apply Rgt_not_eq, Flocq.Core.Raux.bpow_gt_0.
  now rewrite !cut_ok, H.
Qed.

Lemma same_parts d xs ys : normalise d = false -> (exists f, fraction_bits d = Some f) -> Forall2 same xs ys ->
  unit_of d xs = unit_of d ys /\ counts d xs = counts d ys /\ forall m n ns, sign_of m n xs ns = sign_of m n ys ns.
Proof.
  intros N [f Fb] F. assert (T : map (term_exponent d) xs = map (term_exponent d) ys).
  { induction F as [|x y xs ys H F IH]; simpl; auto. rewrite IH. f_equal. unfold term_exponent. rewrite N, (same_zero _ _ H). destruct H as [_ [-> _]]. reflexivity. }
  assert (U : unit_of d xs = unit_of d ys) by (unfold unit_of, largest; now rewrite Fb, T).
  assert (C : counts d xs = counts d ys).
  { unfold counts. rewrite U. generalize (unit_of d ys). intros u. clear T U. induction F as [|x y xs ys H F IH]; simpl; auto. rewrite IH. f_equal. now apply same_cut. }
  assert (G : forall p, forallb (fun x => p (neg x)) xs = forallb (fun x => p (neg x)) ys).
  { intros p. clear T U C. induction F as [|x y xs ys [H _] F IH]; simpl; auto. now rewrite IH, H. }
  assert (X : existsb neg xs = existsb neg ys).
  { clear T U C G. induction F as [|x y xs ys [H _] F IH]; simpl; auto. now rewrite IH, H. }
  repeat split; auto. intros m n ns. unfold sign_of. rewrite (G (fun b => b) : forallb neg xs = forallb neg ys), (G negb), X. reflexivity.
Qed.

Lemma same_sum d f xs ys : fraction_bits d = Some f -> normalise d = false -> Forall2 same xs ys -> sum_numbers d xs = sum_numbers d ys.
Proof.
  intros Fb N F. destruct (same_parts d xs ys N (ex_intro _ f Fb) F) as [U [C S]]. unfold sum_numbers, total. now rewrite C, U, S.
Qed.

Theorem same_values d f vs ws : fraction_bits d = Some f -> normalise d = false -> Forall2 same_val vs ws -> sum_values d vs = sum_values d ws.
Proof.
  intros Fb N F. unfold sum_values, numbers. assert (E : forallb is_num vs = forallb is_num ws).
  { clear -F. induction F as [|v w vs ws H F IH]; simpl; auto. rewrite IH. destruct v, w; easy. }
  rewrite E. destruct (forallb is_num ws) eqn:Q.
  - apply (same_sum d f); auto. clear Fb N E. induction F as [|v w vs ws H F IH]; simpl in *; constructor; apply andb_prop in Q; destruct Q as [Q1 Q2].
    + destruct v, w; simpl in *; auto; discriminate || contradiction.
    + apply IH. now rewrite Q2.
  - assert (X : forall q, (forall v w, same_val v w -> q v = q w) -> existsb q vs = existsb q ws).
    { intros q Hq. clear -F Hq. induction F as [|v w vs ws H F IH]; simpl; auto. now rewrite IH, (Hq v w H). }
    assert (Y : forall q : val -> bool, (forall x y, q (Num x) = q (Num y)) -> existsb q vs = existsb q ws).
    { intros q Hq. apply X. intros [x|s|] [y|t|] H; simpl in H; try contradiction; auto. now subst. }
    unfold special_sum. rewrite !Y by reflexivity. reflexivity.
Qed.
