(** Stochastic rounding: which words round up, and how many. *)
From Coq Require Import ZArith List Bool Lia.
From TC Require Import Spec Rounding.
Import ListNotations.
Open Scope Z_scope.

(** The larger word carries wherever the smaller one does. *)
Theorem larger_word_carries n w w' rest k : 0 <= k -> 0 <= w <= w' -> w' < 2 ^ Z.pos n ->
  random_carry n w rest k = true -> random_carry n w' rest k = true.
Proof.
  intros K W L. rewrite !random_carry_at, !Z.leb_le, !Z.mod_small by lia.
  assert (0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia). nia.
Qed.

(** The word 0 cuts. *)
Theorem no_word_cuts n x k : round_div (SR n 0) x k = round_div RZ x k.
Proof.
  rewrite !round_div_unfold. destruct (Z.leb_spec k 0) as [K|K]; auto. destruct (Z.eqb_spec (x mod 2 ^ k) 0) as [Q|Q]; auto.
  assert (P : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia). assert (N : 0 < 2 ^ Z.pos n) by (apply Z.pow_pos_nonneg; lia).
  pose proof (Z.mod_pos_bound x (2 ^ k) P).
  assert (C : forall r, r < 2 ^ k -> random_carry n 0 r k = false) by (intros r R; rewrite random_carry_at, Z.mod_0_l by lia; apply Z.leb_gt; nia).
  rewrite !C by lia. reflexivity.
Qed.

(** The middle word rounds to nearest, ties away from zero, where no bit is cut off that no random one meets. *)
Theorem middle_word_is_nearest n x k : k <= Z.pos n -> round_div (SR n (2 ^ (Z.pos n - 1))) x k = round_div RNA x k.
Proof.
  intros B. rewrite !round_div_unfold. destruct (Z.leb_spec k 0) as [K|K]; auto. destruct (Z.eqb_spec (x mod 2 ^ k) 0) as [Q|Q]; auto.
  assert (P : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia). assert (N : 0 < 2 ^ (Z.pos n - 1)) by (apply Z.pow_pos_nonneg; lia).
  assert (E : 2 ^ Z.pos n = 2 * 2 ^ (Z.pos n - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (C : forall r, random_carry n (2 ^ (Z.pos n - 1)) r k = (2 ^ k <=? 2 * r)).
  { intros r. rewrite random_carry_at, Z.mod_small by lia. rewrite E. apply eq_true_iff_eq. rewrite !Z.leb_le. nia. }
  rewrite !C. destruct (Z.compare_spec (2 * (x mod 2 ^ k)) (2 ^ k)) as [R|R|R], (x <? 0);
    repeat match goal with |- context [?a <=? ?b] => destruct (Z.leb_spec a b) end; lia.
Qed.

Definition carrying (n : positive) (rest k : Z) : list Z :=
  filter (fun w => random_carry n w rest k) (map Z.of_nat (seq 0 (Z.to_nat (2 ^ Z.pos n)))).

(** Of all words as many carry as the bits that are cut off count in parts of 2^n: with this chance a drawn word goes up. *)
Theorem words_that_carry n rest k : 0 <= k -> 0 <= rest < 2 ^ k ->
  Z.of_nat (length (carrying n rest k)) = rest * 2 ^ Z.pos n / 2 ^ k.
Proof.
  intros K R. set (t := rest * 2 ^ Z.pos n / 2 ^ k). assert (P : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia).
  assert (N : 0 < 2 ^ Z.pos n) by (apply Z.pow_pos_nonneg; lia). set (m := 2 ^ Z.pos n) in *.
  assert (T : 0 <= t < m) by (unfold t; split; [apply Z.div_pos; nia|apply Z.div_lt_upper_bound; nia]).
  assert (C : forall w, 0 <= w < m -> random_carry n w rest k = (m - t <=? w)).
  { intros w W. unfold random_carry. rewrite Z.shiftl_mul_pow2, Z.shiftr_div_pow2 by lia. fold m t. rewrite Z.mod_small by exact W.
    apply eq_true_iff_eq. rewrite !Z.leb_le. lia. }
  assert (F : forall j, 0 <= Z.of_nat j <= m ->
    Z.of_nat (length (filter (fun w => random_carry n w rest k) (map Z.of_nat (seq 0 j)))) = Z.max 0 (Z.of_nat j - (m - t))).
  { induction j as [|j IH]; intros J; [simpl; lia|]. rewrite seq_S, map_app, filter_app, app_length, Nat2Z.inj_add, IH by lia.
    cbn [map filter Nat.add]. rewrite C by lia. destruct (Z.leb_spec (m - t) (Z.of_nat j)); cbn [length]; lia. }
  unfold carrying. fold m. rewrite F, Z2Nat.id by (rewrite ?Z2Nat.id; lia). lia.
Qed.
