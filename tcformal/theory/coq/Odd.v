(** The exact sum of two numbers as a sum that keeps a few bits: two normalised numbers that are aligned to odd; and exact sums of
    numbers that are written in another way. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals Permutation.
From TC Require Import Spec Design Rounding Order Error Integers Words Operands.
Import ListNotations.
Open Scope Z_scope.

(** * A bit that stands for what is lost *)

Lemma odd_quarter n k : 2 <= k -> Z.odd n = true -> let r := n mod 2 ^ k in 1 <= r <= 2 ^ k - 1 /\ Z.odd r = true /\ Z.odd (2 ^ (k - 1)) = false.
Proof.
  intros K O r. assert (P : 2 ^ k = 2 * 2 ^ (k - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (P1 : 2 ^ (k - 1) = 2 * 2 ^ (k - 2)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (P0 : 0 < 2 ^ (k - 2)) by (apply pow2_pos; lia). pose proof (Z.mod_pos_bound n (2 ^ k) ltac:(lia)). fold r in H.
  assert (R : Z.odd r = true). { unfold r. rewrite Z.mod_eq by lia. rewrite Z.odd_sub, Z.odd_mul, O, P, Z.odd_mul. reflexivity. }
  assert (r <> 0) by (intros Q; rewrite Q in R; easy). repeat split; auto; try lia. rewrite P1, Z.odd_mul. reflexivity.
Qed.

(** The same word carries. *)
Lemma carry_sticky n w r e D k : 0 <= D -> Z.pos n < k -> Z.odd r = true -> Z.abs e < 2 ^ D ->
  random_carry n w (r * 2 ^ D + e) (k + D) = random_carry n w r k.
Proof.
  intros HD K O H. rewrite !random_carry_at, Z.pow_add_r by lia. pose proof (pow2_pos D HD). pose proof (pow2_pos (Z.pos n) ltac:(lia)) as PN.
  set (t := 2 ^ Z.pos n - w mod 2 ^ Z.pos n). set (x := 2 ^ (k - 1 - Z.pos n)).
  assert (E : 2 ^ k = 2 * x * 2 ^ Z.pos n) by (unfold x; rewrite <- Z.mul_assoc, <- Z.pow_add_r, <- Z.pow_succ_r by lia; f_equal; lia).
  assert (N : r <> 2 * (t * x)) by (intros Q; rewrite Q, Z.odd_mul in O; easy).
  rewrite E. replace (t * (2 * x * 2 ^ Z.pos n * 2 ^ D)) with (2 * (t * x) * 2 ^ D * 2 ^ Z.pos n) by ring. replace (t * (2 * x * 2 ^ Z.pos n)) with (2 * (t * x) * 2 ^ Z.pos n) by ring.
  set (z := 2 * (t * x)) in *. apply Z.abs_lt in H. apply eq_true_iff_eq. rewrite !Z.leb_le, <- !Z.mul_le_mono_pos_r by lia. nia.
Qed.

Lemma round_div_sticky m n n' D k : 0 <= D -> 1 + deciding_bits m <= k -> Z.odd n' = true -> Z.abs (n - n' * 2 ^ D) < 2 ^ D -> round_div m n (k + D) = round_div m n' k.
Proof.
  intros HD KB O H. pose proof (deciding_some m) as DB. assert (K : 2 <= k) by lia. destruct (odd_quarter n' k K O) as [R1 [R2 R3]]. rewrite !round_div_unfold. destruct (Z.leb_spec (k + D) 0); [lia|]. destruct (Z.leb_spec k 0); [lia|].
  assert (P0 : 0 < 2 ^ D) by (apply pow2_pos; lia). assert (PK : 0 < 2 ^ k) by (apply pow2_pos; lia).
  assert (PD : 2 ^ (k + D) = 2 ^ k * 2 ^ D) by (apply Z.pow_add_r; lia).
  assert (PH : 2 ^ k = 2 * 2 ^ (k - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  set (e := n - n' * 2 ^ D) in *. set (r := n' mod 2 ^ k) in *. set (q := n' / 2 ^ k). assert (DM : n' = 2 ^ k * q + r) by (apply Z.div_mod; lia).
  assert (E : n = q * (2 ^ k * 2 ^ D) + (r * 2 ^ D + e)) by (assert (X : n' * 2 ^ D = (2 ^ k * q + r) * 2 ^ D) by (now rewrite <- DM); unfold e; lia).
  assert (B : 0 < r * 2 ^ D + e < 2 ^ k * 2 ^ D) by (clear - H P0 R1; split; nia).
  assert (Q : n / 2 ^ (k + D) = q) by (rewrite PD; symmetry; apply Z.div_unique with (r * 2 ^ D + e); [left|]; lia).
  assert (M : n mod 2 ^ (k + D) = r * 2 ^ D + e) by (rewrite Z.mod_eq, Q, PD by (rewrite PD; nia); lia).
  assert (S : (n <? 0) = (n' <? 0)).
  { assert (N0 : n' <> 0) by (intros X; rewrite X in O; easy). unfold e in H. apply Z.abs_lt in H. clear - H N0 P0. destruct (Z.ltb_spec n 0), (Z.ltb_spec n' 0); auto; exfalso; nia. }
  rewrite Q, M, S. destruct (Z.eqb_spec (r * 2 ^ D + e) 0); [lia|]. destruct (Z.eqb_spec r 0); [lia|].
  assert (C : (2 * (r * 2 ^ D + e) ?= 2 ^ (k + D)) = (2 * r ?= 2 ^ k)).
  { rewrite PD, PH. assert (r <> 2 ^ (k - 1)) by (intros X; rewrite X in R2; congruence).
    destruct (Z.compare_spec (2 * r) (2 * 2 ^ (k - 1))) as [J|J|J]; [lia| |].
    - apply Z.compare_lt_iff. assert (R4 : r + 1 <= 2 ^ (k - 1)) by lia. apply Z.abs_lt in H. clear - R4 H P0. nia.
    - apply Z.compare_gt_iff. assert (R4 : 2 ^ (k - 1) + 1 <= r) by lia. apply Z.abs_lt in H. clear - R4 H P0. nia. }
  destruct m; cbn [deciding_bits] in KB; try reflexivity; try (rewrite C; reflexivity).
  replace (2 ^ (k + D) - (r * 2 ^ D + e)) with ((2 ^ k - r) * 2 ^ D + - e) by (rewrite PD; ring).
  assert (OR : Z.odd (2 ^ k - r) = true) by (rewrite Z.odd_sub, R2, PH, Z.odd_mul; reflexivity).
  now rewrite (carry_sticky _ _ (2 ^ k - r)), (carry_sticky _ _ r) by (auto; lia).
Qed.

Lemma log2_sticky n n' D : 0 <= D -> 2 <= Z.abs n' -> Z.odd n' = true -> Z.abs (n - n' * 2 ^ D) < 2 ^ D -> Z.log2 (Z.abs n) = Z.log2 (Z.abs n') + D.
Proof.
  intros HD B O H. assert (P0 : 0 < 2 ^ D) by (apply pow2_pos; lia). destruct (Z.log2_spec (Z.abs n') ltac:(lia)) as [L1 L2].
  set (l := Z.log2 (Z.abs n')) in *. assert (L0 : 1 <= l) by (apply Z.log2_le_pow2; lia).
  assert (OA : Z.odd (Z.abs n') = true) by (destruct (Z.abs_eq_or_opp n') as [-> | ->]; rewrite ?Z.odd_opp; auto).
  assert (X1 : Z.abs n' <> 2 ^ l). { intros X. rewrite X in OA. replace (2 ^ l) with (2 * 2 ^ (l - 1)) in OA by (rewrite <- Z.pow_succ_r by lia; f_equal; lia). rewrite Z.odd_mul in OA. easy. }
  assert (A : Z.abs n' * 2 ^ D - 2 ^ D < Z.abs n < Z.abs n' * 2 ^ D + 2 ^ D) by nia.
  apply Z.log2_unique; [lia|]. rewrite <- Z.add_1_r. replace (l + D + 1) with (Z.succ l + D) by lia. rewrite !Z.pow_add_r by lia. split; nia.
Qed.

Lemma near_sign n n' k : 0 < k -> n' <> 0 -> Z.abs (n - n' * k) < k -> (n =? 0) = false /\ (n <? 0) = (n' <? 0) /\ (0 <? n) = (0 <? n').
Proof.
  intros K N H. destruct (Z.lt_trichotomy n' 0) as [L|[L|L]]; [|easy|].
  - assert (n' * k <= - k) by nia. destruct (Z.eqb_spec n 0), (Z.ltb_spec n 0), (Z.ltb_spec n' 0), (Z.ltb_spec 0 n), (Z.ltb_spec 0 n'); auto; lia.
  - assert (k <= n' * k) by nia. destruct (Z.eqb_spec n 0), (Z.ltb_spec n 0), (Z.ltb_spec n' 0), (Z.ltb_spec 0 n), (Z.ltb_spec 0 n'); auto; lia.
Qed.

Lemma convert_sticky c s n n' u D : 0 <= p c -> 0 <= D -> 2 ^ (p c + 1 + deciding_bits (rho c)) <= Z.abs n' -> Z.odd n' = true -> Z.abs (n - n' * 2 ^ D) < 2 ^ D ->
  convert c s n (u - D) = convert c s n' u.
Proof.
  intros P HD BD O H. assert (P0 : 0 < 2 ^ D) by (apply pow2_pos; lia). pose proof (deciding_some (rho c)) as DB.
  assert (B : 2 ^ (p c + 2) <= Z.abs n') by (eapply Z.le_trans; [|exact BD]; apply Z.pow_le_mono_r; lia).
  assert (B2 : 4 <= Z.abs n'). { assert (2 ^ (p c + 2) = 2 ^ p c * 4) by (rewrite Z.pow_add_r by lia; reflexivity). pose proof (pow2_pos (p c) P). lia. }
  assert (L : Z.log2 (Z.abs n) = Z.log2 (Z.abs n') + D) by (apply log2_sticky; auto; lia).
  assert (LB : p c + 1 + deciding_bits (rho c) <= Z.log2 (Z.abs n')) by (apply Z.log2_le_pow2; lia).
  assert (N0 : n' <> 0 /\ n <> 0 /\ (n <? 0) = (n' <? 0) /\ (0 <? n) = (0 <? n')).
  { destruct (near_sign n n' (2 ^ D) P0 ltac:(lia) H) as [A1 [A2 A3]]. apply Z.eqb_neq in A1. repeat split; auto; lia. }
  destruct N0 as [N1 [N2 [S1 S2]]].
  assert (LE : last_bit c n (u - D) = last_bit c n' u). { unfold last_bit. destruct (Z.eqb_spec n 0), (Z.eqb_spec n' 0); try easy. rewrite L. do 2 f_equal. lia. }
  assert (KE : 1 + deciding_bits (rho c) <= last_bit c n' u - u). { unfold last_bit. destruct (Z.eqb_spec n' 0); [easy|]. lia. }
  assert (TI : is_tiny c n (u - D) = is_tiny c n' u).
  { unfold is_tiny. rewrite L. replace (Z.log2 (Z.abs n') + D + (u - D) - p c - (u - D)) with ((Z.log2 (Z.abs n') - p c) + D) by lia.
    replace (Z.log2 (Z.abs n') + u - p c - u) with (Z.log2 (Z.abs n') - p c) by lia. rewrite (round_div_sticky _ n n' D) by (auto; lia). f_equal. lia. }
  unfold convert, is_infinite. rewrite LE, TI. replace (last_bit c n' u - (u - D)) with ((last_bit c n' u - u) + D) by lia. rewrite (round_div_sticky _ n n' D) by auto.
  destruct (Z.eqb_spec n 0), (Z.eqb_spec n' 0); try easy. cbn [negb]. assert (S3 : (0 <=? n) = (0 <=? n')) by (rewrite !Z.leb_antisym; now rewrite S1). rewrite ?S1, ?S2, ?S3. reflexivity.
Qed.

Lemma round_odd x k : 0 < k -> (round_div RO x k * 2 ^ k = x) \/ (Z.odd (round_div RO x k) = true /\ Z.abs (x - round_div RO x k * 2 ^ k) < 2 ^ k).
Proof.
  intros K. rewrite round_div_unfold. destruct (Z.leb_spec k 0); [lia|]. assert (PK : 0 < 2 ^ k) by (apply pow2_pos; lia).
  pose proof (Z.div_mod x (2 ^ k) ltac:(lia)) as DM. pose proof (Z.mod_pos_bound x (2 ^ k) PK) as B. destruct (Z.eqb_spec (x mod 2 ^ k) 0) as [Q|Q]; [left; nia|].
  right. destruct (Z.even (x / 2 ^ k)) eqn:Ev.
  - split. rewrite Z.odd_add, <- Z.negb_even, Ev. reflexivity. nia.
  - split. now rewrite <- Z.negb_even, Ev. nia.
Qed.

(** * Two normalised numbers *)

Definition is_normal (x : num) : Prop := 0 <= frac x /\ (sig x = 0 \/ 2 ^ frac x <= sig x < 2 ^ (frac x + 1)).

Section Two.
Variables (d e : sum) (f : Z).
Hypothesis DN : fraction_bits d = None.
Hypothesis EF : fraction_bits e = Some f.
Hypothesis EA : alignment e = RO.
Hypothesis EZ : zero_exponent e = ZeroNone.
Hypothesis EC : carry_bits e = None.
Hypothesis EN : normalise e = false.
Hypothesis EO : out e = out d.
Let c := out d.
Hypothesis P : 0 <= p c.
Hypothesis PF : p c + 2 + deciding_bits (rho c) <= f.

Lemma total_d ts : total d ts = zsum (counts d ts).
Proof. unfold total. rewrite DN. now destruct (carry_bits d). Qed.
Lemma total_e ts : total e ts = zsum (counts e ts).
Proof. unfold total. now rewrite EC. Qed.

(** One number far above the other. *)
Lemma far x y (swap : bool) : is_normal x -> is_normal y -> frac x + 2 <= f -> frac y + 2 <= f -> sig x <> 0 -> sig y <> 0 ->
  exp y <= exp x -> lsb y < exp x - f ->
  let ts := if swap then [y; x] else [x; y] in sum_numbers d ts = sum_numbers e ts /\ (total d ts =? 0) = (total e ts =? 0) /\ (total d ts <? 0) = (total e ts <? 0).
Proof.
  intros [FX NX] [FY NY] BX BY SX SY LE LO ts. destruct NX as [NX|NX]; [easy|]. destruct NY as [NY|NY]; [easy|].
  set (u := exp x - f) in *. assert (ZX : is_zero x = false) by (unfold is_zero; now apply Z.eqb_neq). assert (ZY : is_zero y = false) by (unfold is_zero; now apply Z.eqb_neq).
  assert (UX : u + 2 <= lsb x) by (unfold u, lsb; lia).
  assert (UE : unit_of e ts = u).
  { unfold unit_of, largest, ts. rewrite EF. assert (TX : term_exponent e x = Some (exp x)) by (unfold term_exponent; now rewrite ZX, EN).
    assert (TY : term_exponent e y = Some (exp y)) by (unfold term_exponent; now rewrite ZY, EN). destruct swap; cbn [map fold_right]; rewrite TX, TY; cbn [omax]; unfold u; lia. }
  assert (UD : unit_of d ts = lsb y).
  { unfold unit_of, ts. rewrite DN. destruct swap; cbn [least_lsb map fold_right]; lia. }
  set (j := u - lsb y). assert (J : 0 < j) by (unfold j; lia). set (b := round_div RO (signed y) j). set (a := signed x * 2 ^ (lsb x - u)).
  assert (CX : cut (alignment e) u x = a). { unfold cut. rewrite round_div_unfold. destruct (Z.leb_spec (u - lsb x) 0); [|lia]. unfold a. do 2 f_equal. lia. }
  assert (CY : cut (alignment e) u y = b) by (unfold cut; now rewrite EA).
  assert (DX : cut (alignment d) (lsb y) x = a * 2 ^ j). { unfold cut. rewrite round_div_unfold. destruct (Z.leb_spec (lsb y - lsb x) 0); [|lia]. unfold a. rewrite <- Z.mul_assoc, <- Z.pow_add_r by (unfold j; lia). do 2 f_equal. unfold j. lia. }
  assert (DY : cut (alignment d) (lsb y) y = signed y). { unfold cut. rewrite Z.sub_diag. rewrite round_div_unfold. change (0 <=? 0) with true. cbv iota. change (2 ^ - 0) with 1. lia. }
  set (n' := a + b). set (n := a * 2 ^ j + signed y).
  assert (CE : counts e ts = (if swap then [b; a] else [a; b])) by (unfold counts; rewrite UE; unfold ts; destruct swap; cbn [map]; now rewrite CX, CY).
  assert (CD : counts d ts = (if swap then [signed y; a * 2 ^ j] else [a * 2 ^ j; signed y])) by (unfold counts; rewrite UD; unfold ts; destruct swap; cbn [map]; now rewrite DX, DY).
  assert (TE : zsum (counts e ts) = n') by (rewrite CE; unfold n'; destruct swap; cbn [zsum fold_right]; lia).
  assert (TD : zsum (counts d ts) = n) by (rewrite CD; unfold n; destruct swap; cbn [zsum fold_right]; lia).
  assert (PJ : 0 < 2 ^ j) by (apply pow2_pos; lia).
  (* magnitudes *)
  assert (AB : 2 ^ f <= Z.abs a).
  { assert (PL : 0 < 2 ^ (lsb x - u)) by (apply pow2_pos; lia). assert (Q : 2 ^ f = 2 ^ frac x * 2 ^ (lsb x - u)) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold u, lsb; lia).
    unfold a. rewrite Z.abs_mul, (Z.abs_eq (2 ^ _)) by lia. assert (Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia). rewrite Q, H. apply Z.mul_le_mono_nonneg_r; [lia|apply NX]. }
  assert (A4 : exists t, a = 4 * t). { exists (signed x * 2 ^ (lsb x - u - 2)). unfold a. replace (lsb x - u) with (2 + (lsb x - u - 2)) at 1 by lia. rewrite Z.pow_add_r by lia. change (2 ^ 2) with 4. ring. }
  assert (F2 : 2 ^ f = 4 * 2 ^ (f - 2)) by (replace f with (2 + (f - 2)) at 1 by lia; rewrite Z.pow_add_r by lia; reflexivity).
  assert (PF2 : 0 < 2 ^ (f - 2)) by (apply pow2_pos; lia).
  assert (SYB : Z.abs (signed y) < 2 ^ (f - 2) * 2 ^ j).
  { assert (Z.abs (signed y) = sig y) by (unfold signed; destruct (neg y); lia). rewrite H, <- Z.pow_add_r by lia. apply Z.lt_le_trans with (2 ^ (frac y + 1)); [lia|]. apply Z.pow_le_mono_r; lia. }
  destruct (round_odd (signed y) j J) as [RX|[RO_ RB]]; fold b in RX || fold b in RO_, RB.
  - (* nothing is lost *)
    assert (NE : n = n' * 2 ^ j) by (unfold n, n'; lia).
    assert (BB : Z.abs b < 2 ^ (f - 2)) by (apply (Z.mul_lt_mono_pos_r (2 ^ j)); [lia|]; rewrite <- RX in SYB; rewrite Z.abs_mul, (Z.abs_eq (2 ^ j)) in SYB by lia; exact SYB). assert (NZ : n' <> 0) by (clear - AB BB F2 PF2; unfold n'; lia).
    split; [|rewrite total_d, total_e, TE, TD; destruct (near_sign n n' (2 ^ j) PJ NZ ltac:(rewrite NE, Z.sub_diag; exact PJ)) as [A1 [A2 _]]; rewrite A1; split; [symmetry; now apply Z.eqb_neq|exact A2]].
    unfold sum_numbers. rewrite total_d, total_e, TE, TD, UE, UD, EO. fold c. apply convert_ext.
    + rewrite NE, mult_IZR, <- (bp_Z j) by lia. rewrite Rmult_assoc, <- Flocq.Core.Raux.bpow_plus. do 2 f_equal. unfold j. lia.
    + destruct (near_sign n n' (2 ^ j) PJ NZ ltac:(rewrite NE, Z.sub_diag; exact PJ)) as [A1 [A2 _]]. unfold sign_of. rewrite A1, A2. destruct (Z.eqb_spec n' 0); [easy|]. reflexivity.
  - assert (BB : Z.abs b <= 2 ^ (f - 2)).
    { clear - SYB RB PJ. assert (H : Z.abs (b * 2 ^ j) < 2 ^ (f - 2) * 2 ^ j + 2 ^ j) by lia. rewrite Z.abs_mul, (Z.abs_eq (2 ^ j)) in H by lia.
      assert (Z.abs b < 2 ^ (f - 2) + 1) by (apply (Z.mul_lt_mono_pos_r (2 ^ j)); lia). lia. }
    assert (OD : Z.odd n' = true) by (unfold n'; destruct A4 as [t ->]; rewrite Z.odd_add, Z.odd_mul, RO_; reflexivity).
    assert (NB : 2 ^ (p c + 1 + deciding_bits (rho c)) <= Z.abs n'). { apply Z.le_trans with (2 ^ (f - 1)). apply Z.pow_le_mono_r; lia. replace (f - 1) with (1 + (f - 2)) by lia. rewrite Z.pow_add_r by lia. change (2 ^ 1) with 2. clear - AB BB F2 PF2. unfold n'. lia. }
    assert (ER : Z.abs (n - n' * 2 ^ j) < 2 ^ j) by (replace (n - n' * 2 ^ j) with (signed y - b * 2 ^ j) by (unfold n, n'; ring); exact RB).
    assert (NZ : n' <> 0) by (intros X; rewrite X in OD; easy).
    split; [|rewrite total_d, total_e, TE, TD; destruct (near_sign n n' (2 ^ j) PJ NZ ER) as [A1 [A2 _]]; rewrite A1; split; [symmetry; now apply Z.eqb_neq|exact A2]].
    unfold sum_numbers. rewrite total_d, total_e, TE, TD, UE, UD, EO. fold c. replace (lsb y) with (u - j) by (unfold j; lia).
    rewrite (convert_sticky c _ n n' u j) by (auto; lia). f_equal.
    destruct (near_sign n n' (2 ^ j) PJ NZ ER) as [A1 [A2 _]]. unfold sign_of. rewrite A1, A2. destruct (Z.eqb_spec n' 0); [easy|]. reflexivity.
Qed.

Theorem exact_two x y : is_normal x -> is_normal y -> frac x + 2 <= f -> frac y + 2 <= f ->
  sum_numbers d [x; y] = sum_numbers e [x; y] /\ (total d [x; y] =? 0) = (total e [x; y] =? 0) /\ (total d [x; y] <? 0) = (total e [x; y] <? 0).
Proof.
  intros NX NY BX BY.
  assert (LD : lossless (unit_of d [x; y]) [x; y]) by (unfold lossless, unit_of; rewrite DN; apply Forall_forall; intros t I _; now apply least_lsb_le).
  assert (AG : lossless (unit_of e [x; y]) [x; y] -> sum_numbers d [x; y] = sum_numbers e [x; y] /\ (total d [x; y] =? 0) = (total e [x; y] =? 0) /\ (total d [x; y] <? 0) = (total e [x; y] <? 0)).
  { intros L. split; [|rewrite total_d, total_e; split; [apply (scaled_zero _ _ (unit_of d [x; y]) (unit_of e [x; y]))|apply (scaled_neg _ _ (unit_of d [x; y]) (unit_of e [x; y]))]; now rewrite !lossless_total]. apply agreement; auto.
    - unfold exact_total. apply total_d. - unfold exact_total. apply total_e. }
  assert (TX : forall t, is_normal t -> term_exponent e t = if is_zero t then None else Some (exp t)) by (intros t _; unfold term_exponent; rewrite EZ, EN; reflexivity).
  assert (U : unit_of e [x; y] = match omax (if is_zero x then None else Some (exp x)) (if is_zero y then None else Some (exp y)) with None => 0 | Some e => e - f end).
  { unfold unit_of, largest. rewrite EF. cbn [map fold_right]. rewrite !TX by auto. destruct (is_zero x), (is_zero y); reflexivity. }
  destruct (is_zero x) eqn:ZX, (is_zero y) eqn:ZY; cbn [omax] in U.
  - apply AG. repeat constructor; congruence.
  - apply AG. rewrite U. repeat constructor; intros; try congruence. unfold lsb. lia.
  - apply AG. rewrite U. repeat constructor; intros; try congruence. unfold lsb. lia.
  - assert (SX : sig x <> 0) by (unfold is_zero in ZX; now apply Z.eqb_neq). assert (SY : sig y <> 0) by (unfold is_zero in ZY; now apply Z.eqb_neq).
    destruct (Z.le_gt_cases (unit_of e [x; y]) (lsb x)) as [LX|LX], (Z.le_gt_cases (unit_of e [x; y]) (lsb y)) as [LY|LY].
    + apply AG. repeat constructor; intros; auto.
    + apply (far x y false); auto; unfold lsb in *; rewrite U in *; lia.
    + apply (far y x true); auto; unfold lsb in *; rewrite U in *; lia.
    + exfalso. unfold lsb in *. rewrite U in *. lia.
Qed.
End Two.

(** * Exact sums of numbers that are written in another way *)

Definition alike (x y : num) : Prop := neg x = neg y /\ V x = V y.

Lemma alike_zero x y : alike x y -> is_zero x = is_zero y.
Proof.
  intros [_ H]. unfold V in H. apply scaled_zero in H. unfold is_zero, signed in *.
  destruct (neg x), (neg y), (Z.eqb_spec (sig x) 0), (Z.eqb_spec (sig y) 0); auto; exfalso;
  repeat match goal with H : context [?a =? 0] |- _ => destruct (Z.eqb_spec a 0) end; lia || easy.
Qed.

Lemma exact_alike d ts us : fraction_bits d = None -> Forall2 alike ts us -> sum_numbers d ts = sum_numbers d us.
Proof.
  intros DN F. assert (LT : forall l, lossless (unit_of d l) l) by (intros l; unfold lossless, unit_of; rewrite DN; apply Forall_forall; intros t I _; now apply least_lsb_le).
  assert (TT : forall l, total d l = zsum (counts d l)) by (intros l; unfold total; rewrite DN; now destruct (carry_bits d)).
  assert (S : exact_sum ts = exact_sum us). { unfold exact_sum. clear -F. induction F as [|x y ts us [_ H] F IH]; simpl; auto. now rewrite H, IH. }
  assert (E : (IZR (zsum (counts d ts)) * bp (unit_of d ts) = IZR (zsum (counts d us)) * bp (unit_of d us))%R) by (now rewrite !lossless_total).
  unfold sum_numbers. rewrite !TT. apply convert_ext; auto. unfold sign_of. rewrite (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E), !lossless_counts_zero by easy.
  assert (G : forall q, forallb (fun x => q (neg x)) ts = forallb (fun x => q (neg x)) us) by (intros q; clear -F; induction F as [|x y ts us [H _] F IH]; simpl; auto; now rewrite IH, H).
  assert (X : existsb neg ts = existsb neg us) by (clear -F; induction F as [|x y ts us [H _] F IH]; simpl; auto; now rewrite IH, H).
  assert (Zs : forallb is_zero ts = forallb is_zero us) by (clear -F; induction F as [|x y ts us A F IH]; simpl; auto; now rewrite IH, (alike_zero _ _ A)).
  rewrite (G (fun b => b) : forallb neg ts = forallb neg us), (G negb), X, Zs. reflexivity.
Qed.
