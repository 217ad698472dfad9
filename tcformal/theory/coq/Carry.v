(** Carry bits: how many are enough for every sum, and a sum for which fewer are not. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error.
Import ListNotations.
Open Scope R_scope.

(** ** Carry bits *)

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

Lemma top_nonneg f s : (0 <= fst s)%Z -> (0 <= top f s)%Z.
Proof.
  intros H. unfold top. rewrite <- (round_div_0 RZ 0). apply round_div_le. rewrite Rmult_0_l.
  apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0].
Qed.

(** The side condition: as a number of the design and of the formats. *)
Definition carry_ok (f k : Z) (ss : list shape) : bool := (zsum (map (top f) ss) <? 2 ^ (f + 1 + k))%Z.

(** And that is all: where the sum of the largest counts does not fit, terms of one exponent overflow the register. *)
Definition fullest (e : Z) (s : shape) : num := {| neg := false; sig := fst s; exp := e; frac := snd s |}.

(** Else there are terms whose sum k carry bits do not hold. *)
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
