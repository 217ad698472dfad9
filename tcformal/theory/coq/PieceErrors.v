(** Products that are summed as the products of their factors' digits, and sums of products that c is added to before they are
    rounded: the error of a block and of a dot product of any length, from words. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Losses Accumulated Exponents Trees Summations Exact Growth FromZero Calls.
Import ListNotations.
Open Scope R_scope.

(** * Sums over the digits of two factors *)

Definition grid (na nb : nat) (F : nat -> nat -> R) : R := Rsum (map (fun i => Rsum (map (F i) (seq 0 nb))) (seq 0 na)).
Definition zgrid (na nb : nat) (F : nat -> nat -> Z) : Z := zsum (map (fun i => zsum (map (F i) (seq 0 nb))) (seq 0 na)).

Lemma Rsum_le_in {A} (f g : A -> R) l : (forall x, In x l -> f x <= g x) -> Rsum (map f l) <= Rsum (map g l).
Proof. intros H. induction l; cbn; [lra|]. pose proof (H a (or_introl eq_refl)). assert (Q := IHl (fun x I => H x (or_intror I))). unfold Rsum in *. lra. Qed.

Lemma Rsum_scale {A} (f : A -> R) r l : Rsum (map (fun x => f x * r) l) = Rsum (map f l) * r.
Proof. induction l; cbn; [lra|]. unfold Rsum in *. rewrite IHl. lra. Qed.

Lemma Rsum_flat {A} (h : num -> R) (F : A -> list num) l : Rsum (map h (flat_map F l)) = Rsum (map (fun a => Rsum (map h (F a))) l).
Proof. induction l; cbn [flat_map map]; [reflexivity|]. now rewrite map_app, Rsum_app, Rsum_cons, IHl. Qed.

Lemma grid_le na nb F G : (forall i j, (i < na)%nat -> (j < nb)%nat -> F i j <= G i j) -> grid na nb F <= grid na nb G.
Proof. intros H. unfold grid. apply Rsum_le_in. intros i Hi. apply Rsum_le_in. intros j Hj. apply in_seq in Hi, Hj. apply H; lia. Qed.

Lemma grid_ext na nb F G : (forall i j, (i < na)%nat -> (j < nb)%nat -> F i j = G i j) -> grid na nb F = grid na nb G.
Proof. intros H. apply Rle_antisym; apply grid_le; intros; rewrite H by auto; lra. Qed.

Lemma grid_product na nb (X Y : nat -> R) : grid na nb (fun i j => X i * Y j) = Rsum (map X (seq 0 na)) * Rsum (map Y (seq 0 nb)).
Proof.
  unfold grid. rewrite <- Rsum_scale. f_equal. apply map_ext. intros i. rewrite (Rmult_comm (X i)), <- Rsum_scale. f_equal. apply map_ext. intros j. ring.
Qed.

Lemma grid_scale na nb F r : grid na nb (fun i j => F i j * r) = grid na nb F * r.
Proof. unfold grid. rewrite <- Rsum_scale. f_equal. apply map_ext. intros i. apply Rsum_scale. Qed.

Lemma grid_minus na nb F G : grid na nb (fun i j => F i j - G i j) = grid na nb F - grid na nb G.
Proof.
  assert (S : forall (f g : nat -> R) l, Rsum (map (fun x => f x - g x) l) = Rsum (map f l) - Rsum (map g l)).
  { intros f g. induction l; cbn; [lra|]. unfold Rsum in *. rewrite IHl. lra. }
  unfold grid. rewrite <- S. f_equal. apply map_ext. intros i. apply S.
Qed.

Lemma grid_abs na nb F : Rabs (grid na nb F) <= grid na nb (fun i j => Rabs (F i j)).
Proof.
  unfold grid. eapply Rle_trans; [apply Rsum_abs_le|]. rewrite map_map. apply Rsum_le_in. intros i _.
  eapply Rle_trans; [apply Rsum_abs_le|]. rewrite map_map. lra.
Qed.

Lemma grid_one na nb F i j : (i < na)%nat -> (j < nb)%nat -> (forall i j, 0 <= F i j) -> F i j <= grid na nb F.
Proof.
  intros Hi Hj P. assert (One : forall (f : nat -> R) l x, In x l -> (forall x, 0 <= f x) -> f x <= Rsum (map f l)).
  { intros f l x I Pf. apply in_split in I. destruct I as [l1 [l2 ->]]. rewrite map_app, Rsum_app. cbn [map]. rewrite Rsum_cons.
    pose proof (Rsum_nonneg f l1 Pf). pose proof (Rsum_nonneg f l2 Pf). lra. }
  unfold grid. eapply Rle_trans; [|apply (One (fun i => Rsum (map (F i) (seq 0 nb))) _ i)].
  - apply One; auto. apply in_seq. lia.
  - apply in_seq. lia.
  - intros. now apply Rsum_nonneg.
Qed.

Lemma zgrid_grid na nb F : IZR (zgrid na nb F) = grid na nb (fun i j => IZR (F i j)).
Proof.
  assert (S : forall l, IZR (zsum l) = Rsum (map IZR l)) by (induction l; cbn; [reflexivity|]; rewrite plus_IZR; unfold zsum, Rsum in *; now rewrite IHl).
  unfold zgrid, grid. rewrite S, map_map. f_equal. apply map_ext. intros i. now rewrite S, map_map.
Qed.

Lemma numbered_seq {A} (F : Z -> A) n : forall i, numbered i (map F (map Z.of_nat (seq i n))) = map (fun k => (k, F (Z.of_nat k))) (seq i n).
Proof. induction n; intros i; [reflexivity|]. cbn [seq map numbered]. f_equal. apply IHn. Qed.

(** * Pieces of a product *)

Definition digit (size s : Z) (i : nat) : Z := (s / 2 ^ (size * Z.of_nat i) mod 2 ^ size)%Z.
Definition digit_count (size t : Z) : nat := Z.to_nat (t / size + 1).

Definition piece (size : Z) (a b y : num) (i j : nat) : num :=
  {| neg := neg y; sig := digit size (sig a) i * digit size (sig b) j; exp := exp y;
     frac := (frac a - size * Z.of_nat i) + (frac b - size * Z.of_nat j) |}.

Lemma pieces_map size dropped a b y : is_zero y = false ->
  pieces size dropped a b y = flat_map (fun i => flat_map (fun j => if (dropped <=? i + j)%nat then [piece size a b y i j] else [])
    (seq 0 (digit_count size (frac b)))) (seq 0 (digit_count size (frac a))).
Proof.
  intros Z. unfold pieces. rewrite Z. unfold digits. fold (digit_count size (frac a)) (digit_count size (frac b)).
  rewrite !numbered_seq, flat_map_map. apply flat_map_ext. intros i. apply flat_map_map.
Qed.

Lemma pieces_sum h size dropped a b y : is_zero y = false ->
  Rsum (map h (pieces size dropped a b y)) = grid (digit_count size (frac a)) (digit_count size (frac b))
    (fun i j => if (dropped <=? i + j)%nat then h (piece size a b y i j) else 0).
Proof.
  intros Z. rewrite pieces_map by auto. rewrite Rsum_flat. unfold grid. f_equal. apply map_ext. intros i. rewrite Rsum_flat. f_equal. apply map_ext. intros j.
  destruct (_ <=? _)%nat; cbn; lra.
Qed.

Lemma pieces_in size dropped a b y q : is_zero y = false -> In q (pieces size dropped a b y) -> exists i j, q = piece size a b y i j.
Proof.
  intros Z H. rewrite pieces_map in H by auto. apply in_flat_map in H. destruct H as [i [_ H]]. apply in_flat_map in H. destruct H as [j [_ H]].
  destruct (_ <=? _)%nat; [|easy]. destruct H as [<-|[]]. eauto.
Qed.

(** What is known of a factor: its fraction bits, and a significand of one bit more. *)
Definition of_bits (t : Z) (a : num) : Prop := frac a = t /\ (0 <= sig a < 2 ^ (t + 1))%Z.

Lemma count_bits size t : (0 < size)%Z -> (0 <= t)%Z -> (size * (Z.of_nat (digit_count size t) - 1) <= t < size * Z.of_nat (digit_count size t))%Z /\
  (0 < digit_count size t)%nat.
Proof.
  intros S T. unfold digit_count. assert (0 <= t / size)%Z by (apply Z.div_pos; lia). rewrite Z2Nat.id by lia.
  pose proof (Z.div_mod t size ltac:(lia)). pose proof (Z.mod_pos_bound t size S). split; [nia|lia].
Qed.

Lemma digit_bound size s i : (0 < size)%Z -> (0 <= digit size s i < 2 ^ size)%Z.
Proof. intros S. apply Z.mod_pos_bound. apply pow2_pos. lia. Qed.

Lemma digits_sum size s n : (0 < size)%Z -> (0 <= s)%Z ->
  Rsum (map (fun i => IZR (digit size s i) * bp (size * Z.of_nat i)) (seq 0 n)) = IZR (s mod 2 ^ (size * Z.of_nat n)).
Proof.
  intros S P. induction n as [|n IH]; [cbn; now rewrite Z.mul_0_r, Z.mod_1_r|].
  rewrite seq_S, map_app, Rsum_app, IH. cbn [map Rsum fold_right Nat.add].
  replace (size * Z.of_nat (Datatypes.S n))%Z with (size * Z.of_nat n + size)%Z by lia. rewrite Z.pow_add_r by lia.
  rewrite Z.rem_mul_r by (try apply Z.neq_sym, Z.lt_neq; apply pow2_pos; lia). rewrite plus_IZR, mult_IZR. unfold digit. rewrite bp_Z by lia. lra.
Qed.

Lemma all_digits size t a : (0 < size)%Z -> (0 <= t)%Z -> of_bits t a ->
  Rsum (map (fun i => IZR (digit size (sig a) i) * bp (size * Z.of_nat i)) (seq 0 (digit_count size t))) = IZR (sig a).
Proof.
  intros S T [F [P B]]. rewrite digits_sum by auto. destruct (count_bits size t S T) as [C _]. rewrite Z.mod_small; auto. split; auto.
  eapply Z.lt_le_trans; [exact B|]. apply Z.pow_le_mono_r; lia.
Qed.

Lemma top_digit size t a : (0 < size)%Z -> (0 <= t)%Z -> of_bits t a -> leading a -> is_zero a = false ->
  bp (t - size * Z.of_nat (Nat.pred (digit_count size t))) <= IZR (digit size (sig a) (Nat.pred (digit_count size t))).
Proof.
  intros S T [F [P B]] L Z. unfold is_zero in Z. apply Z.eqb_neq in Z. destruct L as [L|L]; [easy|]. rewrite F in L.
  destruct (count_bits size t S T) as [C C0]. set (n := digit_count size t : nat) in *.
  assert (E : Z.of_nat (Nat.pred n) = (Z.of_nat n - 1)%Z) by lia. unfold digit. rewrite E. set (k := (size * (Z.of_nat n - 1))%Z) in *.
  assert (K0 : (0 <= k)%Z) by (unfold k; nia). assert (Q : (0 < 2 ^ k)%Z) by (apply pow2_pos; lia).
  rewrite Z.mod_small.
  - rewrite bp_Z by lia. apply IZR_le. apply Z.div_le_lower_bound; auto. rewrite <- Z.pow_add_r by lia. now replace (k + (t - k))%Z with t by lia.
  - split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; auto. rewrite <- Z.pow_add_r by lia. eapply Z.lt_le_trans; [exact B|]. apply Z.pow_le_mono_r; lia.
Qed.

(** A product of two digits at place l, cut at bit k, loses at most this: the digits at l + 2 begin where it ends. *)
Definition room (size k l : Z) : Z := (2 ^ Z.min (size * (l + 2)) k - 2 ^ Z.min (size * l) k)%Z.

Lemma room_pos size k l : (0 < size)%Z -> (0 <= room size k l)%Z.
Proof. intros S. unfold room. assert (2 ^ Z.min (size * l) k <= 2 ^ Z.min (size * (l + 2)) k)%Z by (apply Z.pow_le_mono_r; nia). lia. Qed.

Lemma digits_cut size k l x y : (0 < size)%Z -> (0 <= l)%Z -> (0 <= x < 2 ^ size)%Z -> (0 <= y < 2 ^ size)%Z -> (size * l < k)%Z ->
  ((x * y) mod 2 ^ (k - size * l) * 2 ^ (size * l) <= room size k l)%Z.
Proof.
  intros S L X Y K. unfold room. rewrite (Z.min_l (size * l)) by lia. assert (L0 : (0 <= size * l)%Z) by nia.
  pose proof (pow2_pos (size * l) L0) as P. pose proof (Z.mod_pos_bound (x * y) (2 ^ (k - size * l)) (pow2_pos (k - size * l) ltac:(lia))) as M.
  set (m := (x * y mod 2 ^ (k - size * l))%Z) in *. set (q := (2 ^ (size * l))%Z) in *.
  assert (G : forall c, (m <= c - 1 -> m * q <= c * q - q)%Z) by (intros c H; nia).
  destruct (Z.min_spec (size * (l + 2)) k) as [[H ->]|[H ->]].
  - replace (size * (l + 2))%Z with ((size + size) + size * l)%Z by ring. rewrite !Z.pow_add_r by lia. apply G.
    assert (m <= x * y)%Z by (apply Z.mod_le; [nia|apply pow2_pos; lia]).
    assert (x * y <= (2 ^ size - 1) * (2 ^ size - 1))%Z by (apply Z.mul_le_mono_nonneg; lia). pose proof (pow2_pos size ltac:(lia)). nia.
  - replace (2 ^ k)%Z with (2 ^ (k - size * l) * q)%Z by (unfold q; rewrite <- Z.pow_add_r by lia; f_equal; lia). apply G. lia.
Qed.

(** Units of the lowest bit that all pieces lose where they are cut at bit k, and that those are worth that are left out. *)
Definition cut_units (size : Z) (na nb dropped : nat) (k : Z) : Z :=
  zgrid na nb (fun i j => if (dropped <=? i + j)%nat then room size k (Z.of_nat (i + j)) else 0%Z).
Definition dropped_units (size : Z) (na nb dropped : nat) : Z :=
  zgrid na nb (fun i j => if (dropped <=? i + j)%nat then 0%Z else ((2 ^ size - 1) * (2 ^ size - 1) * 2 ^ (size * Z.of_nat (i + j)))%Z).

Section Product.
Variables (size ta tb : Z) (dropped : nat) (a b y : num).
Hypothesis (S : (0 < size)%Z) (Ta : (0 <= ta)%Z) (Tb : (0 <= tb)%Z) (A : of_bits ta a) (B : of_bits tb b)
  (Sy : sig y = (sig a * sig b)%Z) (Fy : frac y = (ta + tb)%Z) (Ny : is_zero y = false).
Let na := digit_count size ta.
Let nb := digit_count size tb.
Let l0 := (exp y - (ta + tb))%Z.
Let g := pieces size dropped a b y.

Lemma piece_lsb i j : lsb (piece size a b y i j) = (l0 + size * Z.of_nat (i + j))%Z.
Proof. unfold lsb, piece, l0. cbn [exp frac]. destruct A as [-> _], B as [-> _]. lia. Qed.

Lemma piece_abs i j : Rabs (V (piece size a b y i j)) = IZR (digit size (sig a) i) * bp (size * Z.of_nat i) * (IZR (digit size (sig b) j) * bp (size * Z.of_nat j)) * bp l0.
Proof.
  rewrite V_abs, piece_lsb. cbn [piece sig]. pose proof (digit_bound size (sig a) i S). pose proof (digit_bound size (sig b) j S).
  rewrite <- abs_IZR, Z.abs_eq by nia. rewrite mult_IZR. replace (size * Z.of_nat (i + j))%Z with (size * Z.of_nat i + size * Z.of_nat j)%Z by lia.
  rewrite !bpow_plus. ring.
Qed.

Lemma piece_sign i j : V (piece size a b y i j) = (if neg y then -1 else 1) * Rabs (V (piece size a b y i j)).
Proof.
  rewrite piece_abs. unfold V, signed. rewrite piece_lsb. cbn [piece sig neg]. replace (size * Z.of_nat (i + j))%Z with (size * Z.of_nat i + size * Z.of_nat j)%Z by lia.
  rewrite !bpow_plus. destruct (neg y); rewrite ?opp_IZR, mult_IZR; ring.
Qed.

Lemma sums_over h : Rsum (map h g) = grid na nb (fun i j => if (dropped <=? i + j)%nat then h (piece size a b y i j) else 0).
Proof. unfold g. rewrite pieces_sum by exact Ny. destruct A as [-> _], B as [-> _]. reflexivity. Qed.

Lemma product_abs : Rabs (V y) = grid na nb (fun i j => Rabs (V (piece size a b y i j))).
Proof.
  rewrite (grid_ext na nb _ _ (fun i j _ _ => piece_abs i j)), grid_scale, grid_product. unfold na, nb. rewrite (all_digits size ta a), (all_digits size tb b) by auto.
  rewrite V_abs, Sy, <- mult_IZR. unfold lsb, l0. rewrite Fy. f_equal. apply Rabs_pos_eq. apply IZR_le. destruct A as [_ A'], B as [_ B']. nia.
Qed.

Lemma product_value : V y = grid na nb (fun i j => V (piece size a b y i j)).
Proof.
  rewrite (grid_ext na nb _ _ (fun i j _ _ => eq_trans (piece_sign i j) (Rmult_comm _ _))), grid_scale, <- product_abs, V_abs.
  unfold V, signed. rewrite Rabs_pos_eq by (apply IZR_le; rewrite Sy; destruct A as [_ A'], B as [_ B']; nia). destruct (neg y); rewrite ?opp_IZR; ring.
Qed.

Lemma pieces_size : magnitude g <= Rabs (V y).
Proof.
  unfold magnitude. rewrite sums_over, product_abs. apply grid_le. intros i j _ _. destruct (_ <=? _)%nat; [lra|apply Rabs_pos].
Qed.

Lemma pieces_rest : Rabs (exact_sum g - V y) <= IZR (dropped_units size na nb dropped) * bp l0.
Proof.
  unfold exact_sum. rewrite sums_over, product_value, <- grid_minus. eapply Rle_trans; [apply grid_abs|].
  unfold dropped_units. rewrite zgrid_grid, <- grid_scale. apply grid_le. intros i j _ _. destruct (_ <=? _)%nat.
  - rewrite Rminus_eq_0, Rabs_R0. lra.
  - rewrite Rminus_0_l, Rabs_Ropp, piece_abs. pose proof (digit_bound size (sig a) i S) as D1. pose proof (digit_bound size (sig b) j S) as D2.
    replace (size * Z.of_nat (i + j))%Z with (size * Z.of_nat i + size * Z.of_nat j)%Z by lia. rewrite Z.pow_add_r by lia. rewrite !mult_IZR, <- !bp_Z by lia.
    apply Rmult_le_compat_r; [apply bpow_ge_0|]. pose proof (bpow_ge_0 radix2 (size * Z.of_nat i)). pose proof (bpow_ge_0 radix2 (size * Z.of_nat j)).
    replace (IZR (2 ^ size - 1) * IZR (2 ^ size - 1) * (bp (size * Z.of_nat i) * bp (size * Z.of_nat j))) with
      (IZR (2 ^ size - 1) * bp (size * Z.of_nat i) * (IZR (2 ^ size - 1) * bp (size * Z.of_nat j))) by ring.
    apply Rmult_le_compat; try (apply Rmult_le_pos; auto; apply IZR_le; lia); apply Rmult_le_compat_r; auto; apply IZR_le; lia.
Qed.

Lemma piece_loss u i j : loss RZ u (piece size a b y i j) <= IZR (room size (u - l0) (Z.of_nat (i + j))) * bp l0.
Proof.
  pose proof (room_pos size (u - l0) (Z.of_nat (i + j)) S) as R0. pose proof (piece_lsb i j) as Q.
  destruct (Z_le_gt_dec u (lsb (piece size a b y i j))) as [h|h].
  - unfold loss. rewrite fix_rnd_exact by auto. rewrite Rminus_eq_0, Rabs_R0. apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0].
  - pose proof (digit_bound size (sig a) i S) as D1. pose proof (digit_bound size (sig b) j S) as D2.
    rewrite loss_RZ by (try lia; cbn [piece sig]; nia). rewrite Q, bpow_plus, <- Rmult_assoc. rewrite (Rmult_comm (_ * bp l0)), <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite (Rmult_comm (bp _)), bp_Z, <- mult_IZR by nia. apply IZR_le.
    replace (u - (l0 + size * Z.of_nat (i + j)))%Z with ((u - l0) - size * Z.of_nat (i + j))%Z by lia. apply digits_cut; auto; lia.
Qed.

Lemma pieces_loss u : Rsum (map (loss RZ u) g) <= IZR (cut_units size na nb dropped (u - l0)) * bp l0.
Proof.
  rewrite sums_over. unfold cut_units. rewrite zgrid_grid, <- grid_scale. apply grid_le. intros i j _ _. destruct (_ <=? _)%nat; [apply piece_loss|lra].
Qed.

Lemma pieces_top : leading a -> leading b -> (dropped <= Nat.pred na + Nat.pred nb)%nat -> bp (exp y) <= magnitude g.
Proof.
  intros La Lb D. assert (Za : is_zero a = false /\ is_zero b = false) by (unfold is_zero in *; rewrite Sy in Ny; rewrite !Z.eqb_neq in *; lia).
  destruct (count_bits size ta S Ta) as [Ca Ca0]. destruct (count_bits size tb S Tb) as [Cb Cb0]. fold na in Ca, Ca0. fold nb in Cb, Cb0.
  unfold magnitude. rewrite sums_over. eapply Rle_trans; [|apply (grid_one na nb _ (Nat.pred na) (Nat.pred nb)); try lia].
  - cbv beta. rewrite (proj2 (Nat.leb_le _ _) D), piece_abs.
    pose proof (top_digit size ta a S Ta A La (proj1 Za)) as T1. pose proof (top_digit size tb b S Tb B Lb (proj2 Za)) as T2. fold na in T1. fold nb in T2.
    set (p := (size * Z.of_nat (Nat.pred na))%Z) in *. set (q := (size * Z.of_nat (Nat.pred nb))%Z) in *.
    replace (bp (exp y)) with (bp (ta - p) * bp p * (bp (tb - q) * bp q) * bp l0) by (rewrite <- !bpow_plus; f_equal; unfold l0; lia).
    apply Rmult_le_compat_r; [apply bpow_ge_0|].
    apply Rmult_le_compat; try (apply Rmult_le_pos; apply bpow_ge_0); apply Rmult_le_compat_r; auto; apply bpow_ge_0.
  - intros i j. destruct (_ <=? _)%nat; [apply Rabs_pos|lra].
Qed.
End Product.

(** ** The share of a unit of 2^u that pieces lose, in 4096ths *)

Definition loses_units (size ta tb : Z) (dropped : nat) (lam k : Z) : bool :=
  (cut_units size (digit_count size ta) (digit_count size tb) dropped k * 4096 <=? lam * 2 ^ k)%Z.

(** [lam] wherever they are cut, [own] where they are cut at f bits below the product's exponent, [rest] for what is left out. *)
Definition pieces_ok (size ta tb : Z) (dropped : nat) (f lam own rest : Z) : bool :=
  let na := digit_count size ta in let nb := digit_count size tb in
  (0 <? size)%Z && (0 <=? ta)%Z && (0 <=? tb)%Z && (0 <=? f)%Z && (0 <=? lam)%Z && (0 <=? own)%Z && (0 <=? rest)%Z &&
  forallb (loses_units size ta tb dropped lam) (map Z.of_nat (seq 1 (Z.to_nat (size * Z.of_nat (na + nb))))) &&
  ((ta + tb <=? f)%Z || loses_units size ta tb dropped own (ta + tb - f)) &&
  (dropped_units size na nb dropped * 4096 * 2 ^ f <=? rest * 2 ^ (ta + tb))%Z && (dropped <=? Nat.pred na + Nat.pred nb)%nat.

Lemma cut_units_low size na nb dropped k : (0 < size)%Z -> (k <= 0)%Z -> cut_units size na nb dropped k = 0%Z.
Proof.
  intros S K. apply eq_IZR. unfold cut_units. rewrite zgrid_grid. rewrite (grid_ext na nb _ (fun _ _ => 0 * 0)).
  - rewrite (grid_scale na nb (fun _ _ => 0)). cbn. lra.
  - intros i j _ _. destruct (_ <=? _)%nat; [|cbn; lra]. unfold room. rewrite !Z.min_r by nia. rewrite Z.sub_diag. cbn. lra.
Qed.

Lemma cut_units_high size na nb dropped k : (0 < size)%Z -> (size * Z.of_nat (na + nb) <= k)%Z ->
  cut_units size na nb dropped k = cut_units size na nb dropped (size * Z.of_nat (na + nb)).
Proof.
  intros S K. apply eq_IZR. unfold cut_units. rewrite !zgrid_grid. apply grid_ext. intros i j Hi Hj. destruct (_ <=? _)%nat; [|reflexivity].
  assert (size * (Z.of_nat (i + j) + 2) <= size * Z.of_nat (na + nb))%Z by (apply Z.mul_le_mono_nonneg_l; lia).
  unfold room. rewrite !Z.min_l by nia. reflexivity.
Qed.

Lemma loses_everywhere size ta tb dropped f lam own rest k : pieces_ok size ta tb dropped f lam own rest = true ->
  IZR (cut_units size (digit_count size ta) (digit_count size tb) dropped k) <= IZR lam * / 4096 * bp k.
Proof.
  unfold pieces_ok. intros O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[[S Ta] Tb] F0] L0] O0] R0] Al] _] _] _].
  apply Z.ltb_lt in S. apply Z.leb_le in Ta, Tb, L0. set (na := digit_count size ta) in *. set (nb := digit_count size tb) in *.
  destruct (count_bits size ta S Ta) as [_ Na]. fold na in Na. set (K := (size * Z.of_nat (na + nb))%Z) in *.
  assert (L0' : 0 <= IZR lam * / 4096) by (apply Rmult_le_pos; [now apply IZR_le|lra]).
  assert (G : forall k, (1 <= k <= K)%Z -> IZR (cut_units size na nb dropped k) <= IZR lam * / 4096 * bp k).
  { intros k' Hk. rewrite forallb_forall in Al. assert (I : loses_units size ta tb dropped lam k' = true).
    { apply Al. apply in_map_iff. exists (Z.to_nat k'). split; [lia|]. apply in_seq. lia. }
    unfold loses_units in I. apply Z.leb_le in I. fold na nb in I. apply IZR_le in I. rewrite !mult_IZR, <- bp_Z in I by lia. lra. }
  destruct (Z_le_gt_dec k 0) as [h|h]; [rewrite cut_units_low by auto; apply Rmult_le_pos; auto; apply bpow_ge_0|].
  destruct (Z_le_gt_dec k K) as [h'|h']; [apply G; lia|]. rewrite cut_units_high by (fold K; lia). fold K.
  eapply Rle_trans; [apply G; unfold K; nia|]. apply Rmult_le_compat_l; auto. apply bpow_le. lia.
Qed.

(** * Groups of terms: each a product's pieces *)

(** Of a product [y] and its pieces: [lam] units are lost wherever they are cut, [own] where they are cut at f bits below its exponent,
    and what is left out is worth [rest] of those. *)
Record parted (m : mode) (f l : Z) (lam own rest : R) (y : num) (g : list num) : Prop := {
  same_exp : forall q, In q g -> exp q = exp y /\ (is_zero q = false -> is_zero y = false);
  low_exp : (l <= exp y)%Z;
  small_parts : magnitude g <= Rabs (V y);
  loses : forall u, Rsum (map (loss m u) g) <= lam * bp u;
  loses_own : Rsum (map (loss m (exp y - f)) g) <= own * bp (exp y - f);
  leaves_out : Rabs (exact_sum g - V y) <= if is_zero y then 0 else rest * bp (exp y - f) }.

(** The largest piece has the product's exponent. *)
Definition led (y : num) (g : list num) : Prop := is_zero y = false -> bp (exp y) <= magnitude g.

Lemma magnitude_app l k : magnitude (l ++ k) = magnitude l + magnitude k.
Proof. unfold magnitude. now rewrite map_app, Rsum_app. Qed.

Section Groups.
Variables (m : mode) (f l : Z) (lam own rest : R).
Hypothesis (L0 : 0 <= lam) (W0 : 0 <= own) (R0 : 0 <= rest).
Let good (p : num * list num) := parted m f l lam own rest (fst p) (snd p).
Definition all_parts (gs : list (num * list num)) : list num := concat (map snd gs).
Definition group_size (gs : list (num * list num)) : R := Rsum (map (fun p => Rabs (V (fst p))) gs).
Definition group_sum (gs : list (num * list num)) : R := Rsum (map (fun p => V (fst p)) gs).

(** Units that n products lose beside each other: the one with the largest exponent [own]. *)
Definition units_beside (n : Z) : R := lam * IZR (Z.max (n - 1) 0) + own.

Lemma units_beside_pos n : 0 <= units_beside n.
Proof. unfold units_beside. assert (0 <= IZR (Z.max (n - 1) 0)) by (apply IZR_le; lia). nra. Qed.

Lemma all_lose u gs : Forall good gs -> Rsum (map (loss m u) (all_parts gs)) <= lam * IZR (Z.of_nat (length gs)) * bp u.
Proof.
  induction 1 as [|p r H F IH]; [cbn; lra|]. unfold all_parts in *. cbn [map concat length]. rewrite map_app, Rsum_app, Nat2Z.inj_succ, succ_IZR.
  pose proof (loses _ _ _ _ _ _ _ _ H u). lra.
Qed.

Lemma top_loses gs q n : Forall good gs -> In q (all_parts gs) -> (Z.of_nat (length gs) <= n)%Z ->
  Rsum (map (loss m (exp q - f)) (all_parts gs)) <= units_beside n * bp (exp q - f).
Proof.
  intros F I N. unfold all_parts in *. apply in_concat in I. destruct I as [g [Ig Iq]]. apply in_map_iff in Ig. destruct Ig as [p [<- Ip]].
  apply in_split in Ip. destruct Ip as [a [b ->]]. apply Forall_app in F. destruct F as [Fa Fb]. apply Forall_cons_iff in Fb. destruct Fb as [Fp Fb].
  rewrite map_app, concat_app. cbn [map concat]. rewrite !map_app, !Rsum_app.
  pose proof (all_lose (exp q - f) a Fa) as A. pose proof (all_lose (exp q - f) b Fb) as B. unfold all_parts in A, B.
  destruct (same_exp _ _ _ _ _ _ _ _ Fp q Iq) as [E _]. pose proof (loses_own _ _ _ _ _ _ _ _ Fp) as O. rewrite <- E in O.
  rewrite app_length in N. cbn [length] in N. assert (Q : IZR (Z.of_nat (length a)) + IZR (Z.of_nat (length b)) <= IZR (Z.max (n - 1) 0)).
  { rewrite <- plus_IZR. apply IZR_le. lia. }
  pose proof (bpow_gt_0 radix2 (exp q - f)) as P. unfold units_beside.
  pose proof (Rmult_le_compat_l lam _ _ L0 Q) as LQ. pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ P) LQ). lra.
Qed.

Lemma parts_in gs q : Forall good gs -> In q (all_parts gs) -> exists p, In p gs /\ exp q = exp (fst p) /\ (is_zero q = false -> is_zero (fst p) = false) /\ (l <= exp q)%Z.
Proof.
  intros F I. unfold all_parts in I. apply in_concat in I. destruct I as [g [Ig Iq]]. apply in_map_iff in Ig. destruct Ig as [p [<- Ip]]. exists p.
  rewrite Forall_forall in F. pose proof (F p Ip) as G. destruct (same_exp _ _ _ _ _ _ _ _ G q Iq) as [E Z]. rewrite E. repeat split; auto. apply G.
Qed.

Lemma parts_size gs : Forall good gs -> magnitude (all_parts gs) <= group_size gs.
Proof.
  unfold all_parts, group_size. induction 1 as [|p r H F IH]; [cbn; lra|]. cbn [map concat]. rewrite magnitude_app, Rsum_cons.
  pose proof (small_parts _ _ _ _ _ _ _ _ H). lra.
Qed.

Lemma parts_rest gs (B : num -> R) : Forall good gs -> (forall p, In p gs -> is_zero (fst p) = false -> bp (exp (fst p) - f) <= B (fst p)) ->
  (forall y, 0 <= B y) -> Rabs (exact_sum (all_parts gs) - group_sum gs) <= rest * Rsum (map (fun p => B (fst p)) gs).
Proof.
  unfold all_parts, group_sum. induction 1 as [|p r H F IH]; intros G P; [cbn; rewrite Rminus_0_r, Rabs_R0; lra|]. cbn [map concat].
  unfold exact_sum. rewrite map_app, Rsum_app, !Rsum_cons. fold (exact_sum (snd p)) (exact_sum (concat (map snd r))).
  replace (_ + _ - _) with ((exact_sum (snd p) - V (fst p)) + (exact_sum (concat (map snd r)) - Rsum (map (fun p => V (fst p)) r))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. specialize (IH (fun p I => G p (or_intror I)) P). pose proof (leaves_out _ _ _ _ _ _ _ _ H) as O.
  pose proof (P (fst p)). assert (Q : Rabs (exact_sum (snd p) - V (fst p)) <= rest * B (fst p)); [|lra].
  destruct (is_zero (fst p)) eqn:Z; [pose proof (Rmult_le_pos _ _ R0 H0); lra|]. eapply Rle_trans; [exact O|]. apply Rmult_le_compat_l; auto. apply G; auto. now left.
Qed.

Lemma parts_led gs q : Forall good gs -> Forall (fun p => led (fst p) (snd p)) gs -> In q (all_parts gs) -> is_zero q = false -> bp (exp q) <= magnitude (all_parts gs).
Proof.
  intros F Le I Z. unfold all_parts in *. apply in_concat in I. destruct I as [g [Ig Iq]]. apply in_map_iff in Ig. destruct Ig as [p [<- Ip]].
  rewrite Forall_forall in F, Le. destruct (same_exp _ _ _ _ _ _ _ _ (F p Ip) q Iq) as [-> Zy]. eapply Rle_trans; [apply (Le p Ip); auto|].
  apply in_split in Ip. destruct Ip as [a [b ->]]. rewrite map_app, concat_app. cbn [map concat]. rewrite !magnitude_app.
  pose proof (magnitude_pos (concat (map snd a))). pose proof (magnitude_pos (concat (map snd b))). lra.
Qed.

(** Products with leading bits leave out no more than this of their magnitudes. *)
Lemma led_rest gs : Forall good gs -> Forall (fun p => led (fst p) (snd p)) gs ->
  Rabs (exact_sum (all_parts gs) - group_sum gs) <= rest * bp (- f) * group_size gs.
Proof.
  intros F Le. assert (E : rest * bp (- f) * group_size gs = rest * Rsum (map (fun p => Rabs (V (fst p)) * bp (- f)) gs)) by (rewrite Rsum_scale; unfold group_size; ring).
  rewrite E. pose proof (bpow_ge_0 radix2 (- f)) as B. apply (parts_rest gs (fun y => Rabs (V y) * bp (- f))); auto.
  - intros p I Z. rewrite Forall_forall in F, Le. unfold Z.sub. rewrite bpow_plus. apply Rmult_le_compat_r; auto.
    eapply Rle_trans; [apply (Le p I Z)|]. apply (F p I).
  - intros y. pose proof (Rabs_pos (V y)). now apply Rmult_le_pos.
Qed.
End Groups.

(** * One block *)

(** c among the terms: L units are lost beside it, those of all terms where the largest exponent is that of a zero. *)
Theorem joined_loss s f e0 l lam own rest n L gs x z :
  truncated_ok s f e0 l = true -> 0 <= lam -> 0 <= own -> (Z.of_nat (length gs) <= n)%Z ->
  Forall (fun p => parted (alignment s) f l lam own rest (fst p) (snd p)) gs -> Forall (fun p => led (fst p) (snd p)) gs -> fit_c f e0 l x ->
  units_beside lam own n <= L -> is_zero x = true \/ (units_beside lam own n + 1 <= L /\ lam * IZR n <= L) ->
  let A := L + lam * IZR n + 1 in
  sum_numbers s (all_parts gs ++ [x]) = Num z ->
  Rabs (V z - exact_sum (all_parts gs ++ [x])) <= kappa s f L * magnitude (all_parts gs ++ [x]) + eta s f e0 A /\ fit_c f e0 l z.
Proof.
  intros O L0 W0 Ln Fg Le Fx Lb Lx A. set (us := all_parts gs). set (ts := us ++ [x]).
  pose proof (units_beside_pos lam own L0 W0 n) as U0. assert (n0 : 0 <= IZR n) by (apply IZR_le; lia). assert (n1 : 0 <= lam * IZR n) by (now apply Rmult_le_pos).
  assert (X1 : forall u, loss (alignment s) u x <= bp u) by (intros u; pose proof (lossy_whole (alignment s) u x); lra).
  assert (Sp : forall u, Rsum (map (loss (alignment s) u) ts) = Rsum (map (loss (alignment s) u) us) + loss (alignment s) u x).
  { intros u. unfold ts. rewrite map_app, Rsum_app. cbn [map]. rewrite Rsum_cons. cbn. ring. }
  assert (N : forall u, Rsum (map (loss (alignment s) u) us) <= lam * IZR n * bp u).
  { intros u. eapply Rle_trans; [apply (all_lose _ _ _ _ _ _ u gs Fg)|]. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply Rmult_le_compat_l; auto. now apply IZR_le. }
  apply terms_loss; auto.
  - unfold A. lra.
  - intros q Hq _. apply in_app_or in Hq. destruct Hq as [Hq|[<-|[]]]; [|apply Fx]. now destruct (parts_in _ _ _ _ _ _ gs q Fg Hq) as [_ [_ [_ [_ G]]]].
  - intros y Hy Zy. pose proof (bpow_gt_0 radix2 (exp y - f)) as B0. rewrite Sp. apply in_app_or in Hy. destruct Hy as [Hy|[<-|[]]].
    + split.
      * left. eapply Rle_trans; [exact (parts_led _ _ _ _ _ _ gs y Fg Le Hy Zy)|]. unfold ts. rewrite magnitude_app. pose proof (magnitude_pos [x]). fold us. lra.
      * pose proof (top_loses _ _ _ _ _ _ L0 gs y n Fg Hy Ln) as TL. fold us in TL. specialize (X1 (exp y - f)%Z).
        destruct Lx as [Lx|[Lx _]]; [rewrite (loss_zero _ _ x Lx)|]; nra.
    + destruct Fx as [Sx [Bx _]]. split.
      * destruct (Bx Zy) as [By|By]; auto. left. eapply Rle_trans; [exact By|]. apply magnitude_in. apply in_or_app. right. now left.
      * specialize (N (exp x - f)%Z). rewrite (settled_loss (alignment s) f x Sx). destruct Lx as [Lx|[_ Lx]]; [congruence|]. nra.
  - intros u. rewrite Sp. specialize (N u). specialize (X1 u). pose proof (bpow_gt_0 radix2 u). unfold A. nra.
Qed.

(** An exact sum of a count of units and a number. *)
Lemma plus_value c n u s x : exists q N W, IZR N * bp W = IZR n * bp u + V x /\ plus c n u s x = convert c q N W.
Proof.
  unfold plus. set (w := Z.min u (lsb x)). eexists _, _, w. split; [|reflexivity].
  rewrite plus_IZR, !mult_IZR, Rmult_plus_distr_r, <- !bp_Z by lia. unfold V. rewrite !Rmult_assoc, <- !bpow_plus. do 2 f_equal; f_equal; f_equal; lia.
Qed.

(** What is known of a sum of products that c is added to. *)
Definition apart_ok (s : sum) (f : Z) : bool :=
  monotone_conv (out s) && (emin (out s) <=? emax (out s))%Z && match carry_bits s with None => true | _ => false end && negb (normalise s) &&
  match fraction_bits s with Some g => (g =? f)%Z | None => false end && match zero_exponent s, alignment s with ZeroNone, RZ => true | _, _ => false end.

Definition apart_sum (s : sum) (ts : list num) : R := IZR (zsum (counts s ts)) * bp (unit_of s ts).

(** The sum that is cut, in terms of any exponent that no term's exceeds. *)
Lemma apart_cut s f l lam own rest n gs : apart_ok s f = true -> 0 <= lam -> 0 <= own -> (Z.of_nat (length gs) <= n)%Z ->
  Forall (fun p => parted (alignment s) f l lam own rest (fst p) (snd p)) gs ->
  exact_sum (all_parts gs) = 0 /\ apart_sum s (all_parts gs) = 0 \/
  exists q, In q (all_parts gs) /\ is_zero q = false /\
    Rabs (apart_sum s (all_parts gs) - exact_sum (all_parts gs)) <= units_beside lam own n * bp (exp q - f).
Proof.
  intros O L0 W0 Ln Fg. unfold apart_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[_ _] _] Nn] Ff] Zn]. apply negb_true_iff in Nn.
  destruct (fraction_bits s) as [g|] eqn:F; [|easy]. apply Z.eqb_eq in Ff. subst g. destruct (zero_exponent s) eqn:Ze; try easy.
  set (ts := all_parts gs) in *. destruct (largest s ts) as [E|] eqn:Q.
  - right. destruct (largest_attained s ts E Q) as [q [Hq Eq]]. exists q. unfold term_exponent in Eq. rewrite Ze, Nn in Eq. destruct (is_zero q) eqn:Zq; [easy|].
    injection Eq as <-. repeat split; auto. assert (U : unit_of s ts = (exp q - f)%Z) by (unfold unit_of; now rewrite F, Q).
    pose proof (cut_losses s ts) as CL. cbv zeta in CL. unfold apart_sum. rewrite U in *. eapply Rle_trans; [exact CL|]. exact (top_loses _ _ _ _ _ _ L0 gs q n Fg Hq Ln).
  - left. assert (Zs : forall y, In y ts -> is_zero y = true) by (intros y Hy; now apply (largest_none s ts)).
    split; [now apply zeros_sum|]. unfold apart_sum. rewrite (zeros_total s ts Zs). lra.
Qed.

Theorem apart_loss s f l lam own rest n gs x z q N W : apart_ok s f = true -> 0 <= lam -> 0 <= own -> (Z.of_nat (length gs) <= n)%Z ->
  Forall (fun p => parted (alignment s) f l lam own rest (fst p) (snd p)) gs -> Forall (fun p => led (fst p) (snd p)) gs ->
  IZR N * bp W = apart_sum s (all_parts gs) + V x -> convert (out s) q N W = Num z ->
  Rabs (V z - (V x + exact_sum (all_parts gs))) <=
    share (out s) * Rabs (V x) + (units_beside lam own n * bp (- f) + share (out s)) * magnitude (all_parts gs) + flush_loss (out s).
Proof.
  intros O L0 W0 Ln Fg Le E H. pose proof (apart_cut s f l lam own rest n gs O L0 W0 Ln Fg) as Cut. unfold apart_ok in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[Mc _] _] _] _] Zn]. assert (Al : alignment s = RZ) by (destruct (zero_exponent s), (alignment s); easy).
  rewrite (convert_num_flushed _ _ _ _ _ Mc H), E. set (T := apart_sum s (all_parts gs)) in *. set (ts := all_parts gs) in *.
  assert (P : (0 <= p (out s))%Z) by (unfold monotone_conv in Mc; apply andb_prop in Mc; lia).
  pose proof (flushed_loss (out s) (T + V x) P) as Fl. pose proof (share_pos (out s)) as S0. pose proof (magnitude_pos ts) as M0.
  assert (TA : Rabs T <= magnitude ts).
  { unfold T, apart_sum. pose proof (counts_ok s ts) as K. cbv zeta in K. rewrite K, Al. apply cut_sum_abs. }
  assert (TE : Rabs (T - exact_sum ts) <= units_beside lam own n * bp (- f) * magnitude ts).
  { pose proof (units_beside_pos lam own L0 W0 n) as U0. pose proof (bpow_ge_0 radix2 (- f)) as B0. pose proof (Rmult_le_pos _ _ U0 B0).
    destruct Cut as [[C1 C2]|[y [Hy [Zy C]]]].
    - rewrite C1, C2, Rminus_0_r, Rabs_R0. now apply Rmult_le_pos.
    - eapply Rle_trans; [exact C|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; auto. unfold Z.sub. rewrite bpow_plus, Rmult_comm. apply Rmult_le_compat_l; auto.
      exact (parts_led _ _ _ _ _ _ gs y Fg Le Hy Zy). }
  replace (flushed_rnd (out s) (T + V x) - (V x + exact_sum ts)) with ((flushed_rnd (out s) (T + V x) - (T + V x)) + (T - exact_sum ts)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang T (V x)).
  assert (share (out s) * Rabs (T + V x) <= share (out s) * (magnitude ts + Rabs (V x))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** * Designs, from words *)

(** The sum of a block's terms, and whether c is one of them, or is added to their sum. *)
Definition piecewise_sum (d : design) : option (sum * bool) :=
  if skips d || odd_first d then None else
  match sums d, cutting_of d with
  | _, Groups _ => None
  | OneSum (Stage s), _ => Some (s, true)
  | CAfter s false, _ => Some (s, false)
  | _, _ => None
  end.

(** The terms that a product is. *)
Definition pieces_of (d : design) (e : element) : list val :=
  match cutting_of d with
  | Pieces size dropped => match term d e with
      | Num y => map Num (pieces size dropped (num_of (a_of d e)) (num_of (b_of d e)) y)
      | v => [v]
      end
  | _ => [term d e]
  end.

Lemma terms_pieces d b q : piecewise_sum d = Some q -> terms d b = (flat_map (pieces_of d) b, None).
Proof.
  unfold piecewise_sum, terms, pieces_of. destruct (skips d || odd_first d); [easy|]. intros H. destruct (cutting_of d).
  - reflexivity.
  - reflexivity.
  - now destruct (sums d) as [[?|]| | | | |? [|]| | |].
Qed.

Definition in_pieces (d : design) (e : element) (p : num * list num) : Prop := term d e = Num (fst p) /\ pieces_of d e = map Num (snd p).

Lemma pieces_numbers d b : forall us, flat_map (pieces_of d) b = map Num us -> exists gs, Forall2 (in_pieces d) b gs /\ us = all_parts gs.
Proof.
  induction b as [|e b IH]; intros us H.
  - exists []. split; [constructor|]. destruct us; easy.
  - cbn [flat_map] in H. symmetry in H. apply map_eq_app in H. destruct H as [g [us' [-> [Hg Hb]]]]. destruct (IH us' (eq_sym Hb)) as [gs [F ->]].
    assert (Y : exists y, term d e = Num y).
    { unfold pieces_of in Hg. assert (One : forall v, map Num g = [v] -> exists y, v = Num y).
      { intros v E. destruct g as [|q [|]]; try easy. injection E as <-. eauto. }
      destruct (cutting_of d); try now apply One. destruct (term d e); eauto; now apply One. }
    destruct Y as [y Ey]. exists ((y, g) :: gs). split; [|reflexivity]. constructor; auto. now split.
Qed.

(** A block whose result is a number: its terms, c, and the sum. *)
Lemma block_pieces d s joined v b z : piecewise_sum d = Some (s, joined) -> zero_terms (factors d) = None -> block_value d v b = Num z ->
  exists x gs, flush (c_rule d) v = Num x /\ Forall2 (in_pieces d) b gs /\
    if joined then sum_numbers s (all_parts gs ++ [x]) = Num z
    else exists q, plus (out s) (held s (zsum (counts s (all_parts gs)))) (unit_of s (all_parts gs)) q x = Num z.
Proof.
  intros S Zt H. pose proof (terms_pieces d b _ S) as Tp. unfold piecewise_sum in S. destruct (skips d) eqn:Sk; [easy|]. destruct (odd_first d) eqn:Of; [easy|].
  cbn [orb] in S. unfold block_value, skipped, ordered in H. rewrite Sk, Of, Tp in H. cbn [andb fst snd] in H. rewrite taken_kept in H by exact Zt.
  assert (N : forall vs g, on_numbers g (vs ++ [flush (c_rule d) v]) = Num z -> exists us x, vs = map Num us /\ flush (c_rule d) v = Num x /\ g (us ++ [x]) = Num z).
  { intros vs g E. unfold on_numbers in E. destruct (numbers _) as [ts|] eqn:Nu; [|exfalso; now apply (special_not_num _ _ E)].
    destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ex Eu]]]]. eauto. }
  destruct (cutting_of d), (sums d) as [[s'|]| | | | |s' [|]| | |]; try easy; injection S as <- <-; cbn [block_sum add_from add] in H;
    try (change (sum_values s' ?l) with (on_numbers (sum_numbers s') l) in H); destruct (N _ _ H) as [us [x [Eu [Ex R]]]];
    destruct (pieces_numbers d b us Eu) as [gs [F ->]]; exists x, gs; (split; [exact Ex|]); (split; [exact F|]); auto; rewrite Eu, Ex in R; cbn [num_of] in R;
    rewrite map_map in R; cbn [num_of] in R; rewrite map_id in R; eauto.
Qed.

(** ** One product *)

Definition plain_product (d : design) : bool := match scales d, converted d with None, None => true | _, _ => false end.

(** What a product loses, in 4096ths of units, and what is left out of it: of a whole one [lam] wherever it is cut. *)
Definition product_loss (d : design) (f lam own rest : Z) : bool :=
  match term_facts d, cutting_of d with
  | Some t, Whole => (bits t <=? f)%Z && (0 <=? bits t)%Z && (0 <=? lam)%Z && (lam <=? 4096)%Z && (0 <=? own)%Z && (0 <=? rest)%Z && share_ok d RZ lam
  | Some t, Pieces size dropped => plain_product d && pieces_ok size (fbits (a_format d)) (fbits (b_format d)) dropped f lam own rest
  | _, _ => false
  end.

Lemma product_loss_signs d f lam own rest : product_loss d f lam own rest = true -> (0 <= f /\ 0 <= lam /\ 0 <= own /\ 0 <= rest)%Z.
Proof.
  unfold product_loss. destruct (term_facts d); [|easy]. destruct (cutting_of d); unfold pieces_ok; rewrite ?andb_true_iff, ?Z.leb_le; try easy; intuition lia.
Qed.

Lemma factor_frac q r v x : kept_or_zero r = true -> factor q r v = Num x -> exists y, v = Num y /\ frac x = frac y.
Proof.
  intros K H. unfold factor in H. destruct v as [y| |]; [|destruct (normalise_factors q); easy|destruct (normalise_factors q); easy]. exists y. split; [reflexivity|].
  assert (G : exists w, flush r (Num y) = Num w /\ frac w = frac y).
  { unfold flush. destruct (negb (is_subnormal y)); [eauto|]. destruct r; try easy; eexists; (split; [reflexivity|reflexivity]). }
  destruct G as [w [Ew <-]]. rewrite Ew in H. destruct (normalise_factors q); [|now injection H as <-].
  injection H as <-. unfold normalised. now destruct (is_subnormal w).
Qed.

Lemma factor_bits d f r w x : operand_ok d f = true -> kept_or_zero r = true -> exponent_step (factors d) = 1%Z -> converted d = None ->
  factor (factors d) r (operand d f w) = Num x -> of_bits (fbits f) x.
Proof.
  intros O K St Cn H. pose proof (operand_factor_has d r f w O K St x H) as [[P M] [B _]]. destruct (factor_frac _ _ _ _ K H) as [y [Ey Fy]].
  unfold operand in Ey. rewrite Cn, St in Ey. cbn [Z.eqb Pos.eqb] in Ey. unfold operand_ok in O. apply andb_prop in O. destruct O as [O _].
  destruct (decode_num _ _ _ O Ey) as [_ [B' _]]. rewrite B' in Fy. cbn [factor_facts facts_normal operand_facts most bits] in M. rewrite Fy, Z.sub_diag in M. split; auto. lia.
Qed.

Lemma plain_term d t e y : term_facts d = Some t -> plain_product d = true -> made_by d e -> term d e = Num y -> exists a b,
  a_of d e = Num a /\ b_of d e = Num b /\ of_bits (fbits (a_format d)) a /\ of_bits (fbits (b_format d)) b /\ sig y = (sig a * sig b)%Z /\ frac y = (frac a + frac b)%Z.
Proof.
  intros T Pl M E. unfold plain_product in Pl. destruct (scales d) eqn:Sc; [easy|]. destruct (converted d) eqn:Cn; [easy|].
  unfold made_by in M. rewrite Sc in M. pose proof T as T'. unfold term_facts in T'. set (q := factors d) in *.
  destruct (_ && _) eqn:G in T'; [|easy]. repeat rewrite andb_true_iff in G. destruct G as [[[[[Oa Ob] Ka] Kb] St] R]. apply Z.eqb_eq in St.
  destruct (zero_terms q) eqn:Zt; [easy|]. destruct (product_rounding q) eqn:Pr; [easy|].
  unfold term, scaled_product in E. fold q in E. rewrite Zt, zero_as_none, Pr, M in E. cbn [fold_left] in E.
  assert (X : exists w, product (a_of d e) (b_of d e) = Num w /\ sig y = sig w /\ frac y = frac w).
  { destruct (product (a_of d e) (b_of d e)) as [w| |], (subtracted q (index e)); cbn [negate] in E; try easy;
      match type of E with (if ?c then _ else _) = _ => destruct c; [easy|injection E as <-; eauto] end. }
  destruct X as [w [Ew [-> ->]]]. apply product_num in Ew. destruct Ew as [a [b [Ea [Eb ->]]]]. exists a, b. repeat split; auto.
  all: first [eapply (proj1 (factor_bits d (a_format d) _ _ a Oa Ka St Cn Ea))|eapply (proj1 (factor_bits d (b_format d) _ _ b Ob Kb St Cn Eb))|
              eapply (proj1 (proj2 (factor_bits d (a_format d) _ _ a Oa Ka St Cn Ea)))|eapply (proj1 (proj2 (factor_bits d (b_format d) _ _ b Ob Kb St Cn Eb)))|
              eapply (proj2 (proj2 (factor_bits d (a_format d) _ _ a Oa Ka St Cn Ea)))|eapply (proj2 (proj2 (factor_bits d (b_format d) _ _ b Ob Kb St Cn Eb)))].
Qed.

Lemma map_Num l k : map Num l = map Num k -> l = k.
Proof. revert k. induction l as [|a l IH]; intros [|b k] H; try easy. injection H as -> H. f_equal. auto. Qed.

Lemma zero_parted f l lam own rest y : 0 <= lam -> 0 <= own -> (l <= exp y)%Z -> is_zero y = true -> parted RZ f l lam own rest y [y].
Proof.
  intros L0 O0 L Z. assert (N : forall u, loss RZ u y = 0).
  { intros u. unfold loss. rewrite V_zero by easy. unfold fix_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. reflexivity. }
  constructor; auto.
  - intros q [<-|[]]. auto.
  - unfold magnitude. cbn. lra.
  - intros u. cbn. rewrite N, Rplus_0_r. apply Rmult_le_pos; [lra|apply bpow_ge_0].
  - cbn. rewrite N, Rplus_0_r. apply Rmult_le_pos; [lra|apply bpow_ge_0].
  - rewrite Z. unfold exact_sum. cbn. rewrite Rplus_0_r, Rminus_eq_0, Rabs_R0. lra.
Qed.

Local Notation part k := (IZR k * / 4096).

Theorem product_parts d t f l lam own rest e p : term_facts d = Some t -> (l <= low t)%Z -> product_loss d f lam own rest = true -> made_by d e ->
  (cutting_of d = Whole -> lam = 4096%Z \/ leading_element d e) -> in_pieces d e p -> parted RZ f l (part lam) (part own) (part rest) (fst p) (snd p).
Proof.
  intros T Ll O M Le [Et Ep]. destruct p as [y g]. cbn [fst snd] in *. pose proof (product_loss_signs _ _ _ _ _ O) as [F0 [L0 [W0 R0]]].
  apply IZR_le in L0, W0, R0. assert (Hy : has t y) by (exact (scaled_has d t e T M y Et)). destruct Hy as [_ [By Ly]].
  unfold product_loss in O. rewrite T in O. unfold pieces_of in Ep. destruct (cutting_of d) as [|size dropped|]; [| |easy].
  - repeat rewrite andb_true_iff in O. destruct O as [[[[[[B1 B0] _] L1] _] _] Sh]. apply Z.leb_le in B1, B0, L1. rewrite Et in Ep. change [Num y] with (map Num [y]) in Ep.
    apply map_Num in Ep. subst g. assert (Se : settled f y) by (apply short_settled; lia).
    assert (Lo : forall u, loss RZ u y <= part lam * bp u).
    { intros u. destruct (Le eq_refl) as [->|Le']; [replace (part 4096) with 1 by lra; apply lossy_whole|].
      apply (term_fit d t f l lam RZ e T M Le' B1 B0 Ll Sh y Et). }
    constructor.
    + intros q [<-|[]]. auto.
    + lia.
    + unfold magnitude. cbn. lra.
    + intros u. cbn. rewrite Rplus_0_r. apply Lo.
    + cbn. rewrite (settled_loss RZ f y Se), Rplus_0_r. apply Rmult_le_pos; [lra|apply bpow_ge_0].
    + unfold exact_sum. cbn. rewrite Rplus_0_r, Rminus_eq_0, Rabs_R0. destruct (is_zero y); [lra|]. apply Rmult_le_pos; [lra|apply bpow_ge_0].
  - apply andb_prop in O. destruct O as [Pl O]. rewrite Et in Ep. apply map_Num in Ep. destruct (plain_term d t e y T Pl M Et) as [a [b [Ea [Eb [Ha [Hb [Sy Fy]]]]]]].
    rewrite Ea, Eb in Ep. cbn [num_of] in Ep. destruct (is_zero y) eqn:Zy.
    { unfold pieces in Ep. rewrite Zy in Ep. subst g. apply zero_parted; auto; try lra; lia. }
    set (ta := fbits (a_format d)) in *. set (tb := fbits (b_format d)) in *. pose proof (loses_everywhere size ta tb dropped f lam own rest) as LE.
    pose proof O as O'. unfold pieces_ok in O'. repeat rewrite andb_true_iff in O'. destruct O' as [[[[[[[[[[S Ta] Tb] _] _] _] _] _] Ow] Re] _].
    apply Z.ltb_lt in S. apply Z.leb_le in Ta, Tb, Re. assert (Fy' : frac y = (ta + tb)%Z) by (rewrite Fy; destruct Ha as [-> _], Hb as [-> _]; reflexivity).
    set (l0 := (exp y - (ta + tb))%Z). assert (U : forall u, bp u = bp (u - l0) * bp l0) by (intros u; rewrite <- bpow_plus; f_equal; lia). subst g.
    constructor.
    + intros q Hq. destruct (pieces_in _ _ _ _ _ _ Zy Hq) as [i [j ->]]. auto.
    + lia.
    + exact (pieces_size size ta tb dropped a b y S Ta Tb Ha Hb Sy Fy' Zy).
    + intros u. eapply Rle_trans; [exact (pieces_loss size ta tb dropped a b y S Ha Hb Zy u)|]. fold l0. rewrite (U u), <- Rmult_assoc.
      apply Rmult_le_compat_r; [apply bpow_ge_0|]. now apply LE.
    + eapply Rle_trans; [exact (pieces_loss size ta tb dropped a b y S Ha Hb Zy (exp y - f))|]. fold l0. rewrite (U (exp y - f)%Z), <- Rmult_assoc.
      apply Rmult_le_compat_r; [apply bpow_ge_0|]. replace (exp y - f - l0)%Z with (ta + tb - f)%Z by (unfold l0; lia). apply orb_prop in Ow. destruct Ow as [Ow|Ow].
      * apply Z.leb_le in Ow. rewrite cut_units_low by lia. apply Rmult_le_pos; [lra|apply bpow_ge_0].
      * destruct (Z_le_gt_dec (ta + tb - f) 0) as [h|h]; [rewrite cut_units_low by lia; apply Rmult_le_pos; [lra|apply bpow_ge_0]|].
        unfold loses_units in Ow. apply Z.leb_le in Ow. apply IZR_le in Ow. rewrite !mult_IZR, <- bp_Z in Ow by lia. lra.
    + rewrite Zy. eapply Rle_trans; [exact (pieces_rest size ta tb dropped a b y S Ta Tb Ha Hb Sy Fy' Zy)|]. fold l0. rewrite (U (exp y - f)%Z), <- Rmult_assoc.
      apply Rmult_le_compat_r; [apply bpow_ge_0|]. replace (exp y - f - l0)%Z with ((ta + tb) + - f)%Z by (unfold l0; lia). apply IZR_le in Re.
      rewrite !mult_IZR, <- !bp_Z in Re by lia. rewrite bpow_plus. pose proof (bpow_gt_0 radix2 (- f)) as Bf. pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ Bf) Re) as Q.
      assert (One : bp f * bp (- f) = 1) by (rewrite <- bpow_plus; now replace (f + - f)%Z with 0%Z by lia).
      set (D := IZR (dropped_units size (digit_count size ta) (digit_count size tb) dropped)) in *. replace (D * 4096 * bp f * bp (- f)) with (D * 4096 * (bp f * bp (- f))) in Q by ring.
      rewrite One in Q. lra.
Qed.

Theorem product_led d t f lam own rest e p : term_facts d = Some t -> product_loss d f lam own rest = true -> made_by d e -> leading_element d e -> in_pieces d e p ->
  led (fst p) (snd p).
Proof.
  intros T O M Le [Et Ep] Zy. destruct p as [y g]. cbn [fst snd] in *.
  unfold product_loss in O. rewrite T in O. unfold pieces_of in Ep. destruct (cutting_of d) as [|size dropped|]; [| |easy].
  - repeat rewrite andb_true_iff in O. destruct O as [[[[[[B1 B0] _] L1] _] _] Sh]. apply Z.leb_le in B1, B0. rewrite Et in Ep. change [Num y] with (map Num [y]) in Ep.
    apply map_Num in Ep. subst g. pose proof (term_fit d t f (low t) lam RZ e T M Le B1 B0 (Z.le_refl _) Sh y Et) as [_ [N _]]. unfold magnitude. cbn. rewrite Rplus_0_r. now apply N.
  - apply andb_prop in O. destruct O as [Pl O]. rewrite Et in Ep. apply map_Num in Ep. destruct (plain_term d t e y T Pl M Et) as [a [b [Ea [Eb [Ha [Hb [Sy Fy]]]]]]].
    rewrite Ea, Eb in Ep. cbn [num_of] in Ep. subst g. destruct Le as [La [Lb _]].
    unfold pieces_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[[S Ta] Tb] _] _] _] _] _] _] _] D]. apply Z.ltb_lt in S. apply Z.leb_le in Ta, Tb. apply Nat.leb_le in D.
    exact (pieces_top size _ _ dropped a b y S Ta Tb Ha Hb Sy Zy (La a Ea) (Lb b Eb) D).
Qed.

(** ** One block *)

Lemma block_groups d t f l lam own rest b : forall gs, term_facts d = Some t -> (l <= low t)%Z -> product_loss d f lam own rest = true -> Forall (made_by d) b ->
  (cutting_of d = Whole -> lam = 4096%Z \/ Forall (leading_element d) b) -> Forall2 (in_pieces d) b gs ->
  Forall (fun p => parted RZ f l (part lam) (part own) (part rest) (fst p) (snd p)) gs /\ length gs = length b /\
  group_sum gs = Rsum (map (term_value d) b) /\ group_size gs = Rsum (map (fun e => Rabs (term_value d e)) b).
Proof.
  induction b as [|e b IH]; intros gs T Ll O M Le F; inversion F as [|? p ? gs' Fe Fb]; subst; [repeat split; auto; now left|].
  apply Forall_cons_iff in M. destruct M as [Me Mb]. destruct (IH gs' T Ll O Mb) as [A [B [C D]]]; auto.
  { intros W. destruct (Le W) as [?|Q]; [now left|right]. now apply Forall_cons_iff in Q. }
  split; [constructor; auto; eapply product_parts; eauto; intros W; destruct (Le W) as [?|Q]; [now left|right; now apply Forall_cons_iff in Q]|].
  split; [cbn; now rewrite B|]. assert (E : term_value d e = V (fst p)) by (unfold term_value; now rewrite (proj1 Fe)).
  unfold group_sum, group_size in *. cbn [map]. rewrite !Rsum_cons, E, C, D. split; reflexivity.
Qed.

Lemma block_led d t f lam own rest b : forall gs, term_facts d = Some t -> product_loss d f lam own rest = true -> Forall (made_by d) b ->
  Forall (leading_element d) b -> Forall2 (in_pieces d) b gs -> Forall (fun p => led (fst p) (snd p)) gs.
Proof.
  induction b as [|e b IH]; intros gs T O M Le F; inversion F as [|? p ? gs' Fe Fb]; subst; [constructor|].
  apply Forall_cons_iff in M. apply Forall_cons_iff in Le. constructor; [|apply IH; tauto]. eapply product_led; eauto; tauto.
Qed.

Definition rounding_parts (c : conversion) (f : Z) : Z := (4096 * 2 ^ (f - p c - (if nearest (rho c) then 1 else 0)))%Z.

(** What a block loses, in 4096ths of 2^-f: from c = 0 of its products' magnitudes, beside any c of those and of |c|. *)
Definition piecewise_losses (d : design) (f lam own rest : Z) : option (Z * Z * Z) :=
  match piecewise_sum d with
  | Some (s, joined) =>
      let n := Z.of_nat (block d) in
      let beside := (lam * Z.max (n - 1) 0 + own)%Z in
      if joined then
        let k := (kappa_parts (out s) f (Z.max (beside + 4096) (lam * n)) + rest)%Z in Some ((kappa_parts (out s) f beside + rest)%Z, k, k)
      else let r := rounding_parts (out s) f in Some ((beside + r + rest)%Z, (beside + r + rest)%Z, r)
  | None => None
  end.

Definition piecewise_ok (d : design) (f lam own rest : Z) : bool :=
  match piecewise_sum d, term_facts d with
  | Some (s, joined), Some t =>
      product_loss d f lam own rest && (0 <? Z.of_nat (block d))%Z && format_ok (start_format d) && match alignment s with RZ => true | _ => false end &&
      (p (out s) + (if nearest (rho (out s)) then 1 else 0) <=? f)%Z &&
      if joined
      then truncated_ok s f (floor_of d s) (low_of d t s) && (fbits (start_format d) <=? f)%Z && match c_rule d with Kept => true | _ => false end
      else apart_ok s f && match c_rule d with Kept => true | HiddenBit => false | _ => flushes (out s) end
  | _, _ => false
  end.

(** What counts beside the magnitudes: where results are subnormal, or c is. *)
Definition piecewise_rest (d : design) (f lam own : Z) : R :=
  match piecewise_sum d with
  | Some (s, true) =>
      let n := Z.of_nat (block d) in
      eta s f (floor_of d s) (part (Z.max (lam * Z.max (n - 1) 0 + own + 4096) (lam * n)) + part lam * IZR n + 1)
  | Some (s, false) => flush_loss (out s)
  | None => 0
  end.

Local Notation fine f k := (IZR k * / 4096 * bp (- f)).

Lemma share_parts c f : (p c + (if nearest (rho c) then 1 else 0) <=? f)%Z = true -> share c = fine f (rounding_parts c f).
Proof.
  intros H. apply Z.leb_le in H. unfold share, rounding_parts. rewrite mult_IZR, <- bp_Z by (destruct (nearest (rho c)); lia).
  replace (4096 * bp (f - p c - (if nearest (rho c) then 1 else 0)) * / 4096 * bp (- f)) with (bp (f - p c - (if nearest (rho c) then 1 else 0)) * bp (- f)) by field.
  rewrite <- bpow_plus. destruct (nearest (rho c)); f_equal; lia.
Qed.

Lemma kappa_fine s f lost : alignment s = RZ -> (0 <= f)%Z -> (p (out s) + (if nearest (rho (out s)) then 1 else 0) <=? f)%Z = true ->
  kappa s f (part lost) = fine f (kappa_parts (out s) f lost).
Proof.
  intros Al F0 P. rewrite (kappa_fraction s f lost (kappa_parts (out s) f lost) (4096 * 2 ^ f)).
  - rewrite mult_IZR, <- bp_Z by lia. rewrite bpow_opp. field. pose proof (bpow_gt_0 radix2 f). lra.
  - unfold kappa_is. rewrite Al, P. pose proof (pow2_pos f F0). repeat (apply andb_true_intro; split); auto; lia.
Qed.

Section Piecewise.
Variables (d : design) (f lam own rest k1 k kc : Z).
Hypothesis (O : piecewise_ok d f lam own rest = true) (Ls : piecewise_losses d f lam own rest = Some (k1, k, kc)).
Let H := piecewise_rest d f lam own.

Definition c_taken (x : num) : Prop :=
  match piecewise_sum d, term_facts d with
  | Some (s, true), Some t => fit_c f (floor_of d s) (low_of d t s) x
  | _, _ => flush (c_rule d) (Num x) = Num x
  end.

Lemma beside_units n : units_beside (part lam) (part own) n = part (lam * Z.max (n - 1) 0 + own).
Proof. unfold units_beside. rewrite plus_IZR, mult_IZR. lra. Qed.

Lemma piecewise_step b x z : block_ok d b -> c_taken x -> block_value d (Num x) b = Num z -> c_taken z /\
  Rabs (V z - (V x + Rsum (map (term_value d) b))) <= fine f kc * Rabs (V x) + fine f k * Rsum (map (fun e => Rabs (term_value d e)) b) + H /\
  (is_zero x = true -> Rabs (V z - (0 + Rsum (map (term_value d) b))) <= fine f k1 * (0 + Rsum (map (fun e => Rabs (term_value d e)) b)) + H).
Proof.
  intros [Lb [Mb Le]] Cx E. unfold piecewise_ok in O. unfold piecewise_losses in Ls. unfold c_taken in *. unfold H, piecewise_rest.
  destruct (piecewise_sum d) as [[s joined]|] eqn:S; [|easy]. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[[[Pl Bn] Of] Al] Pf] J]. destruct (alignment s) eqn:Als; try easy. pose proof (product_loss_signs _ _ _ _ _ Pl) as [F0 [L0 [W0 R0]]].
  set (n := Z.of_nat (block d)) in *. assert (Ln : forall gs : list (num * list num), length gs = length b -> (Z.of_nat (length gs) <= n)%Z) by (intros gs ->; unfold n; lia).
  assert (PL : 0 <= part lam) by (apply IZR_le in L0; lra). assert (PW : 0 <= part own) by (apply IZR_le in W0; lra). assert (PR : 0 <= part rest) by (apply IZR_le in R0; lra).
  pose proof (bpow_ge_0 radix2 (- f)) as Bf. pose proof (Rabs_pos (V x)) as X0. assert (S0 : forall gs, 0 <= group_size gs) by (intros gs; apply Rsum_nonneg; intros; apply Rabs_pos).
  destruct (block_pieces d s joined (Num x) b z S (term_facts_zero d t T) E) as [x' [gs [Fx [Fg R]]]].
  set (u := (lam * Z.max (n - 1) 0 + own)%Z) in *.
  destruct joined; injection Ls as <- <- <-.
  - rewrite !andb_true_iff in J. destruct J as [[Tr Fc] Ck]. destruct (c_rule d) eqn:Cr; try easy. rewrite flush_kept in Fx. injection Fx as <-.
    destruct (block_groups d t f (low_of d t s) lam own rest b gs T ltac:(unfold low_of; lia) Pl Mb (fun _ => or_intror Le) Fg) as [Pg [Lg [Sg Ag]]].
    pose proof (block_led d t f lam own rest b gs T Pl Mb Le Fg) as Ld. rewrite <- Sg, <- Ag.
    rewrite <- Als in Pg. pose proof (parts_size _ _ _ _ _ _ gs Pg) as Mg. pose proof (led_rest _ _ _ _ _ _ PR gs Pg Ld) as Rg.
    set (L := Z.max (u + 4096) (lam * n)) in *.
    assert (U1 : units_beside (part lam) (part own) n = part u) by apply beside_units.
    assert (U2 : part u + 1 <= part L) by (assert (u + 4096 <= L)%Z as Q by (unfold L; lia); apply IZR_le in Q; rewrite plus_IZR in Q; lra).
    assert (U3 : part lam * IZR n <= part L) by (assert (lam * n <= L)%Z as Q by (unfold L; lia); apply IZR_le in Q; rewrite mult_IZR in Q; lra).
    assert (n0 : 0 <= part lam * IZR n) by (apply Rmult_le_pos; auto; apply IZR_le; unfold n; lia).
    assert (Ex : exact_sum (all_parts gs ++ [x]) = exact_sum (all_parts gs) + V x) by (unfold exact_sum; rewrite map_app, Rsum_app; cbn; ring).
    assert (Mx : magnitude (all_parts gs ++ [x]) = magnitude (all_parts gs) + Rabs (V x)) by (rewrite magnitude_app; unfold magnitude at 2; cbn; ring).
    assert (G : forall l, units_beside (part lam) (part own) n <= part l -> (l <= L)%Z ->
      is_zero x = true \/ (units_beside (part lam) (part own) n + 1 <= part l /\ part lam * IZR n <= part l) ->
      Rabs (V z - (V x + group_sum gs)) <= fine f (kappa_parts (out s) f l + rest) * (Rabs (V x) + group_size gs) +
        eta s f (floor_of d s) (part L + part lam * IZR n + 1) /\ fit_c f (floor_of d s) (low_of d t s) z).
    { intros l Hl Hl' Lx. destruct (joined_loss s f (floor_of d s) (low_of d t s) (part lam) (part own) (part rest) n (part l) gs x z Tr PL PW (Ln gs Lg) Pg Ld Cx Hl Lx R) as [G1 G2].
      split; [|exact G2]. rewrite Ex, Mx in G1. rewrite (kappa_fine s f l Als F0 Pf) in G1.
      assert (l0 : 0 <= part l) by (pose proof (units_beside_pos _ _ PL PW n); lra). apply IZR_le in Hl'.
      pose proof (eta_le s f (floor_of d s) (part l + part lam * IZR n + 1) (part L + part lam * IZR n + 1) ltac:(lra) ltac:(lra)) as EL.
      pose proof (kappa_pos s f (part l) l0) as KP. rewrite (kappa_fine s f l Als F0 Pf) in KP.
      replace (V z - (V x + group_sum gs)) with ((V z - (exact_sum (all_parts gs) + V x)) + (exact_sum (all_parts gs) - group_sum gs)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite plus_IZR.
      set (K := fine f (kappa_parts (out s) f l)) in *. replace ((IZR (kappa_parts (out s) f l) + IZR rest) * / 4096 * bp (- f)) with (K + part rest * bp (- f)) by (unfold K; ring).
      assert (0 <= part rest * bp (- f)) by (now apply Rmult_le_pos). specialize (S0 gs). assert (0 <= part rest * bp (- f) * Rabs (V x)) by (now apply Rmult_le_pos).
      assert (K * (magnitude (all_parts gs) + Rabs (V x)) <= K * (Rabs (V x) + group_size gs)) by (apply Rmult_le_compat_l; lra). lra. }
    destruct (G L ltac:(lra) ltac:(lia) ltac:(right; lra)) as [G1 G2]. split; [exact G2|]. split; [lra|]. intros Zx.
    destruct (G u ltac:(lra) ltac:(unfold L; lia) (or_introl Zx)) as [G3 _]. rewrite (V_zero x Zx), Rabs_R0 in G3. exact G3.
  - apply andb_prop in J. destruct J as [Ap Cr]. rewrite Cx in Fx. injection Fx as <-. destruct R as [q R].
    destruct (block_groups d t f (low t) lam own rest b gs T (Z.le_refl _) Pl Mb (fun _ => or_intror Le) Fg) as [Pg [Lg [Sg Ag]]].
    pose proof (block_led d t f lam own rest b gs T Pl Mb Le Fg) as Ld. rewrite <- Sg, <- Ag. rewrite <- Als in Pg.
    pose proof (parts_size _ _ _ _ _ _ gs Pg) as Mg. pose proof (led_rest _ _ _ _ _ _ PR gs Pg Ld) as Rg.
    pose proof Ap as Ap'. unfold apart_ok in Ap'. repeat rewrite andb_true_iff in Ap'. destruct Ap' as [[[[[Mc Em] Kb] _] _] _]. apply Z.leb_le in Em.
    assert (Hd : forall m, held s m = m) by (intros m; unfold held; now destruct (carry_bits s)). rewrite Hd in R.
    destruct (plus_value (out s) (zsum (counts s (all_parts gs))) (unit_of s (all_parts gs)) q x) as [q' [N [W [EN EQ]]]]. rewrite EQ in R.
    pose proof (apart_loss s f (low t) (part lam) (part own) (part rest) n gs x z q' N W Ap PL PW (Ln gs Lg) Pg Ld EN R) as G.
    rewrite beside_units, (share_parts (out s) f Pf) in G. fold u in G.
    assert (Main : Rabs (V z - (V x + group_sum gs)) <= fine f (rounding_parts (out s) f) * Rabs (V x) + fine f (u + rounding_parts (out s) f + rest) * group_size gs + flush_loss (out s)).
    { replace (V z - (V x + group_sum gs)) with ((V z - (V x + exact_sum (all_parts gs))) + (exact_sum (all_parts gs) - group_sum gs)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite !plus_IZR.
      assert (u0 : 0 <= part u) by (unfold u; rewrite <- beside_units; now apply units_beside_pos).
      assert (r0 : 0 <= fine f (rounding_parts (out s) f)) by (rewrite <- (share_parts (out s) f Pf); apply Rlt_le, share_pos).
      pose proof (Rmult_le_pos _ _ u0 Bf) as uf. pose proof (Rmult_le_compat_l _ _ _ (Rplus_le_le_0_compat _ _ uf r0) Mg). lra. }
    split; [|split; [exact Main|]].
    + destruct (Req_dec (V z) 0) as [Z0|NZ].
      * unfold flush, is_subnormal. now rewrite (Paths.V_nothing z Z0).
      * destruct (c_rule d) eqn:Crd; [apply flush_kept| | |easy]; eapply flushed_result; eauto; discriminate.
    + intros Zx. rewrite (V_zero x Zx), Rabs_R0, Rmult_0_r, !Rplus_0_l in Main. now rewrite !Rplus_0_l.
Qed.
Lemma piecewise_stays v b : block_ok d b -> is_num v = false -> is_num (block_value d v b) = false.
Proof.
  intros _ N. destruct (block_value d v b) as [z| |] eqn:E; auto. exfalso. unfold piecewise_ok in O.
  destruct (piecewise_sum d) as [[s joined]|] eqn:S; [|easy]. destruct (term_facts d) as [t|] eqn:T; [|easy].
  destruct (block_pieces d s joined v b z S (term_facts_zero d t T) E) as [x [_ [Fx _]]]. now destruct v.
Qed.

Lemma piecewise_signs : 0 <= fine f k1 /\ 0 <= fine f k /\ 0 <= fine f kc /\ 0 <= H /\ (kc <= k)%Z /\ (k1 = k \/ k = kc) /\ (0 < block d)%nat.
Proof.
  unfold piecewise_ok in O. unfold piecewise_losses in Ls. unfold H, piecewise_rest.
  destruct (piecewise_sum d) as [[s joined]|] eqn:S; [|easy]. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[[[Pl Bn] Of] Al] Pf] J]. pose proof (product_loss_signs _ _ _ _ _ Pl) as [F0 [L0 [W0 R0]]].
  set (n := Z.of_nat (block d)) in *. assert (B0 : (0 < block d)%nat) by (apply Z.ltb_lt in Bn; unfold n in Bn; lia).
  assert (u0 : (0 <= lam * Z.max (n - 1) 0 + own)%Z) by nia. set (u := (lam * Z.max (n - 1) 0 + own)%Z) in *.
  pose proof (bpow_ge_0 radix2 (- f)) as Bf. assert (Po : forall i, (0 <= i)%Z -> 0 <= fine f i) by (intros i Hi; apply IZR_le in Hi; apply Rmult_le_pos; auto; lra).
  assert (Rp : (0 <= rounding_parts (out s) f)%Z) by (unfold rounding_parts; assert (0 <= 2 ^ (f - p (out s) - (if nearest (rho (out s)) then 1 else 0)))%Z by (apply Z.pow_nonneg; lia); lia).
  assert (Kp : forall l, (0 <= l)%Z -> (0 <= kappa_parts (out s) f l)%Z).
  { intros l Hl. unfold kappa_parts. assert (0 <= 2 ^ (f - p (out s) - (if nearest (rho (out s)) then 1 else 0)))%Z by (apply Z.pow_nonneg; lia). destruct (nearest (rho (out s))); lia. }
  destruct joined; injection Ls as <- <- <-.
  - pose proof (Kp u u0). pose proof (Kp (Z.max (u + 4096) (lam * n)) ltac:(lia)). repeat split; try (apply Po; lia); auto; try lia.
    apply eta_pos. assert (0 <= IZR (Z.max (u + 4096) (lam * n))) by (apply IZR_le; lia). assert (0 <= IZR n) by (apply IZR_le; unfold n; lia). apply IZR_le in L0.
    assert (0 <= part lam * IZR n) by (apply Rmult_le_pos; lra). lra.
  - repeat split; try (apply Po; lia); auto; try lia. apply flush_loss_pos.
Qed.

Lemma first_taken w x : composed d = None -> decode (c_format d) w = Num x -> forall y, flush (c_rule d) (Num x) = Num y -> c_taken y.
Proof.
  intros Co D y Fy. pose proof O as O'. unfold piecewise_ok in O'. unfold c_taken.
  destruct (piecewise_sum d) as [[s joined]|] eqn:S; [|easy]. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O'. destruct O' as [[[[[Pl Bn] Of] Al] Pf] J]. destruct joined.
  - rewrite !andb_true_iff in J. destruct J as [[Tr Fc] Ck]. destruct (c_rule d); try easy. rewrite flush_kept in Fy. injection Fy as <-.
    assert (Ds : decode (start_format d) w = Num x) by (unfold start_format; now rewrite Co).
    destruct (decode_num _ _ _ Of Ds) as [A [B [C E]]]. split; [eapply format_settled; eauto|]. split; [|unfold low_of; lia]. intros Z. destruct E as [E|E].
    + left. assert (N : normal x); [|now apply N]. apply leading_normal; [lia|]. right. now rewrite B.
    + right. unfold floor_of. lia.
  - apply andb_prop in J. destruct J as [_ Cr]. rewrite <- Fy. apply flush_twice. intros Q. now rewrite Q in Cr.
Qed.

Lemma words_blocks w : Forall (leading_element d) (elements d w) -> Forall (block_ok d) (blocks_of_word d w) /\ concat (blocks_of_word d w) = elements d w.
Proof.
  intros Le. destruct piecewise_signs as [_ [_ [_ [_ [_ [_ Bn]]]]]]. now apply leading_blocks.
Qed.

Lemma first_flushed b bs v x : Forall (block_ok d) (b :: bs) -> flush (c_rule d) v = Num x -> in_turn d (b :: bs) v = in_turn d (b :: bs) (Num x).
Proof.
  intros _ Fv. unfold in_turn. cbn [fold_left]. f_equal. pose proof O as O'. unfold piecewise_ok in O'.
  destruct (piecewise_sum d) as [[s joined]|] eqn:S; [|easy]. destruct (term_facts d) as [t|] eqn:T; [|easy].
  assert (Sk : skips d = false) by (unfold piecewise_sum in S; now destruct (skips d)).
  unfold block_value, skipped. rewrite Sk, !taken_kept by (eapply term_facts_zero; eauto). rewrite <- Fv, flush_twice; [reflexivity|].
  repeat rewrite andb_true_iff in O'. destruct O' as [_ J]. destruct joined; rewrite ?andb_true_iff in J; intros Q; rewrite Q in J; easy.
Qed.

(** For all words whose products have leading bits where sums cut them, any c and m + 1 blocks: |d - exact| <=
    ((1 + k) (1 + kc)^m - 1) (|c| + Σ|terms|), and what counts only beside subnormal results and a subnormal c. *)
Theorem piecewise_error w x z : composed d = None -> pairs w <> [] -> Forall (leading_element d) (elements d w) -> first_c d w = Num x -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    ((1 + fine f k) * (1 + fine f kc) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) +
    ((1 + fine f kc) ^ m * H + H * geometric (fine f kc) m).
Proof.
  intros Co Nw Le Fc Vz m. destruct (words_blocks w Le) as [F Cc]. destruct piecewise_signs as [_ [K0 [Kc0 [H0 [KK _]]]]].
  assert (Ne : elements d w <> []) by (intros Q; pose proof (elements_length d w) as L; rewrite Q in L; destruct (pairs w); [congruence|discriminate L]).
  rewrite <- Cc in Ne |- *. unfold value in Vz. rewrite Co in Vz. change (in_turn d (blocks_of_word d w) (decode (c_format d) (c_word w)) = Num z) in Vz.
  unfold m. destruct (blocks_of_word d w) as [|b bs]; [easy|]. unfold first_c in Fc. destruct (decode (c_format d) (c_word w)) as [y| |] eqn:Dc; [|easy|easy].
  rewrite (first_flushed b bs (Num y) x F Fc) in Vz. pose proof (first_taken (c_word w) y Co Dc x Fc) as Cx. cbn [length Nat.pred].
  pose proof F as F'. apply Forall_cons_iff in F'. destruct F' as [Fb _]. pose proof (bpow_ge_0 radix2 (- f)) as Bf.
  assert (KK' : fine f kc <= fine f k) by (apply IZR_le in KK; apply Rmult_le_compat_r; auto; lra).
  apply (blocks_grow_after d (term_value d) (block_ok d) c_taken (fine f k) (fine f kc) H Kc0 H0
    (fun b x z Hb Hx E => let '(conj A (conj B _)) := piecewise_step b x z Hb Hx E in conj A B) piecewise_stays b bs x z (V x) (Rabs (V x))); auto; try lra.
  - nra.
  - intros y' Hy'. destruct (piecewise_step b x y' Fb Cx Hy') as [S1 [S2 _]]. split; [exact S1|]. pose proof (Rmult_le_compat_r _ _ _ (Rabs_pos (V x)) KK'). lra.
Qed.

(** From c = 0, where the first block has a constant of its own. *)
Theorem piecewise_error_from_zero w x z : composed d = None -> pairs w <> [] -> Forall (leading_element d) (elements d w) ->
  decode (c_format d) (c_word w) = Num x -> is_zero x = true -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - Rsum (map (term_value d) (elements d w))) <=
    ((1 + fine f k1) * (1 + fine f kc) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (elements d w)) +
    ((1 + fine f kc) ^ m * H + H * geometric (fine f kc) m).
Proof.
  intros Co Nw Le Dc Zx Vz m. destruct (words_blocks w Le) as [F Cc]. destruct piecewise_signs as [K1 [K0 [Kc0 [H0 [KK [KE _]]]]]].
  assert (Ne : elements d w <> []) by (intros Q; pose proof (elements_length d w) as L; rewrite Q in L; destruct (pairs w); [congruence|discriminate L]).
  rewrite <- Cc in Ne |- *. unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  unfold m. destruct (blocks_of_word d w) as [|b bs]; [easy|]. cbn [length Nat.pred].
  assert (Fx : flush (c_rule d) (Num x) = Num x) by (unfold flush, is_subnormal; now rewrite Zx).
  pose proof (first_taken (c_word w) x Co Dc x Fx) as Cx. pose proof F as F'. apply Forall_cons_iff in F'. destruct F' as [Fb _].
  assert (KG : fine f k <= (1 + fine f k1) * (1 + fine f kc) - 1) by (destruct KE as [->| ->]; nra).
  pose proof (blocks_grow_after d (term_value d) (block_ok d) c_taken (fine f k) (fine f kc) H Kc0 H0
    (fun b x z Hb Hx E => let '(conj A (conj B _)) := piecewise_step b x z Hb Hx E in conj A B) piecewise_stays b bs x z 0 0 (fine f k1) H K1 H0 KG F) as G.
  rewrite Rabs_R0, !Rplus_0_l in G. apply G; auto; [lra|]. intros y Hy. destruct (piecewise_step b x y Fb Cx Hy) as [S1 [_ S2]]. split; [exact S1|].
  specialize (S2 Zx). now rewrite !Rplus_0_l in S2.
Qed.
End Piecewise.

Lemma Forall2_right {A B} (R : A -> B -> Prop) l k : Forall2 R l k -> forall y, In y k -> exists x, In x l /\ R x y.
Proof. induction 1 as [|x y l k H F IH]; intros q []; [subst; eauto using in_eq|]. destruct (IH q H0) as [x' [? ?]]. eauto using in_cons. Qed.

(** * In terms of the largest exponent, for operands of any kind *)

(** Units of 2^(E - F) that one block loses, in 4096ths. *)
Definition exponent_units (d : design) (lam own rest : Z) : Z :=
  let n := Z.of_nat (block d) in
  ((if match piecewise_sum d with Some (_, joined) => joined | None => true end then lam * n + 4096 else lam * Z.max (n - 1) 0 + own) + rest * n)%Z.

Definition piecewise_exponents_ok (d : design) (f lam own rest : Z) : bool :=
  match piecewise_sum d with
  | Some (s, joined) =>
      product_loss d f lam own rest && match cutting_of d with Whole => (lam =? 4096)%Z | _ => true end && (0 <? block d)%nat &&
      match alignment s with RZ => true | _ => false end &&
      if joined
      then monotone_conv (out s) && match carry_bits s with None => true | _ => false end && negb (normalise s) && match fraction_bits s with Some g => (g =? f)%Z | None => false end &&
        match zero_exponent s with ZeroNone => true | ZeroAt e => (e <=? emin (out s))%Z | ZeroOwn => false end
      else apart_ok s f
  | None => false
  end.

Lemma flushed_ulps c x : (0 <= p c)%Z -> Rabs (flushed_rnd c x - x) <= ulps c * Rulp c (flushed_rnd c x) + if flushes c then bp (emin c) else 0.
Proof.
  intros P. pose proof (rounding_ulps c x P) as R. pose proof (bpow_ge_0 radix2 (emin c)) as B. unfold flushed_rnd in *.
  destruct (flushes c); cbn [andb]; [|lra]. destruct (vanishes c x) eqn:Va; [|lra]. pose proof (vanishes_below c x P Va).
  assert (U : 0 <= ulps c * Rulp c 0) by (apply Rmult_le_pos; [unfold ulps; destruct (nearest _); lra|apply ulp_ge_0]).
  replace (0 - x) with (- x) by ring. rewrite Rabs_Ropp. lra.
Qed.

(** For all words of one block, subnormal operands among them, and every E that is at least the exponent of every product that is not zero, and of
    a c that is aligned with them, and of the least normal result: so many units of 2^(E - F), an ulp of d, or half of it, and 2^emin where results are flushed. *)
Theorem piecewise_in_exponents d s joined f lam own rest units w x z E :
  piecewise_sum d = Some (s, joined) -> piecewise_exponents_ok d f lam own rest = true -> exponent_units d lam own rest = units -> composed d = None -> length (blocks_of_word d w) = 1%nat ->
  first_c d w = Num x -> value d w = Num z -> (emin (out s) <= E)%Z -> (joined = true -> is_zero x = false -> (exp x <= E)%Z) ->
  (forall e y, In e (elements d w) -> term d e = Num y -> is_zero y = false -> (exp y <= E)%Z) ->
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    part units * bp (E - f) + ulps (out s) * Rulp (out s) (V z) + if flushes (out s) then bp (emin (out s)) else 0.
Proof.
  intros S O <- Co One Fc Vz Em Ec Et. pose proof S as S'. unfold piecewise_exponents_ok in O. rewrite S in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[Pl Wh] Bn] Al] J]. destruct (alignment s) eqn:Als; try easy. apply Nat.ltb_lt in Bn. pose proof (product_loss_signs _ _ _ _ _ Pl) as [F0 [L0 [W0 R0]]].
  destruct (term_facts d) as [t|] eqn:T; [|unfold product_loss in Pl; rewrite T in Pl; easy].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  unfold value in Vz. rewrite Co in Vz. change (in_turn d (blocks_of_word d w) (decode (c_format d) (c_word w)) = Num z) in Vz.
  assert (Lb : Forall (fun b => (length b <= block d)%nat /\ Forall (made_by d) b) (blocks_of_word d w)) by (apply cut_list_blocks; auto; apply elements_made).
  destruct (blocks_of_word d w) as [|b [|? ?]]; try easy. cbn in Cc. rewrite app_nil_r in Cc. subst b. cbn in Vz. apply Forall_cons_iff in Lb. destruct Lb as [[Lb Mb] _].
  destruct (block_pieces d s joined _ _ z S (term_facts_zero d t T) Vz) as [x' [gs [Fx [Fg R]]]]. unfold first_c in Fc. rewrite Fc in Fx. injection Fx as <-.
  assert (Lead : cutting_of d = Whole -> lam = 4096%Z \/ Forall (leading_element d) (elements d w)) by (intros W; rewrite W in Wh; left; lia).
  destruct (block_groups d t f (low t) lam own rest (elements d w) gs T (Z.le_refl _) Pl Mb Lead Fg) as [Pg [Lg [Sg _]]]. rewrite <- Sg.
  set (n := Z.of_nat (block d)) in *. assert (Ln : (Z.of_nat (length gs) <= n)%Z) by (rewrite Lg; unfold n; lia).
  apply IZR_le in L0, W0, R0. assert (PL : 0 <= part lam) by lra. assert (PW : 0 <= part own) by lra. assert (PR : 0 <= part rest) by lra.
  pose proof (bpow_ge_0 radix2 (E - f)) as BE.
  assert (Ex : forall p, In p gs -> is_zero (fst p) = false -> (exp (fst p) <= E)%Z).
  { intros p Hp Zp. destruct (Forall2_right _ _ _ Fg p Hp) as [e [He [Ee _]]]. eapply Et; eauto. }
  assert (Rg : Rabs (exact_sum (all_parts gs) - group_sum gs) <= part rest * IZR n * bp (E - f)).
  { eapply Rle_trans; [apply (parts_rest RZ f (low t) (part lam) (part own) (part rest) PR gs (fun _ => bp (E - f)) Pg); auto|].
    - intros p Hp Zp. apply bpow_le. specialize (Ex p Hp Zp). lia.
    - assert (Q : Rsum (map (fun _ : num * list num => bp (E - f)) gs) = IZR (Z.of_nat (length gs)) * bp (E - f)).
      { clear. induction gs as [|p r IH]; [cbn; ring|]. cbn [map length]. rewrite Rsum_cons, IH, Nat2Z.inj_succ, succ_IZR. ring. }
      rewrite Q, (Rmult_assoc (part rest)). apply Rmult_le_compat_l; auto. apply Rmult_le_compat_r; auto. now apply IZR_le. }
  assert (Xq : forall q, In q (all_parts gs) -> is_zero q = false -> (exp q <= E)%Z).
  { intros q Hq Zq. destruct (parts_in _ _ _ _ _ _ gs q Pg Hq) as [p [Hp [-> [Zp _]]]]. auto. }
  unfold exponent_units. rewrite S. fold n. rewrite plus_IZR, mult_IZR.
  assert (Main : exists y U, V z = flushed_rnd (out s) y /\ (0 <= p (out s))%Z /\ Rabs (y - (V x + exact_sum (all_parts gs))) <= part U * bp (E - f) /\
    U = (if joined then lam * n + 4096 else lam * Z.max (n - 1) 0 + own)%Z).
  { destruct joined.
    - repeat rewrite andb_true_iff in J. destruct J as [[[[Mc Kb] Nn] Ff] Ze]. apply negb_true_iff in Nn. destruct (carry_bits s) eqn:K; [easy|].
      destruct (fraction_bits s) as [g|] eqn:F; [|easy]. apply Z.eqb_eq in Ff. subst g. set (ts := all_parts gs ++ [x]) in *.
      exists (apart_sum s ts). eexists. split; [|split; [unfold monotone_conv in Mc; apply andb_prop in Mc; lia|split; [|reflexivity]]].
      + unfold sum_numbers in R. assert (Tt : total s ts = zsum (counts s ts)) by (apply no_carry_exact; exact K). rewrite Tt in R. exact (convert_num_flushed _ _ _ _ _ Mc R).
      + assert (Sx : exact_sum ts = V x + exact_sum (all_parts gs)) by (unfold ts, exact_sum; rewrite map_app, Rsum_app; cbn; ring). rewrite <- Sx.
        assert (U0 : 0 <= part (lam * n + 4096) * bp (E - f)) by (apply Rmult_le_pos; auto; rewrite plus_IZR, mult_IZR; assert (0 <= IZR n) by (apply IZR_le; unfold n; lia); nra).
        destruct (largest s ts) as [e|] eqn:Q.
        * assert (Ee : (e <= E)%Z).
          { destruct (largest_attained s ts e Q) as [q [Hq Eq]]. unfold term_exponent in Eq. rewrite Nn in Eq. destruct (is_zero q) eqn:Zq.
            - destruct (zero_exponent s); try easy. injection Eq as <-. apply Z.leb_le in Ze. lia.
            - injection Eq as <-. apply in_app_or in Hq. destruct Hq as [Hq|[<-|[]]]; auto. }
          assert (U : unit_of s ts = (e - f)%Z) by (unfold unit_of; now rewrite F, Q). pose proof (cut_losses s ts) as CL. cbv zeta in CL. unfold apart_sum.
          rewrite U in *. eapply Rle_trans; [exact CL|]. rewrite Als. unfold ts. rewrite map_app, Rsum_app. cbn [map]. rewrite Rsum_cons.
          assert (X1 : loss RZ (e - f) x <= bp (e - f)) by (unfold loss; pose proof (fix_rnd_err RZ (e - f) (V x)); lra).
          pose proof (all_lose RZ f (low t) (part lam) (part own) (part rest) (e - f) gs Pg) as A.
          assert (part lam * IZR (Z.of_nat (length gs)) <= part lam * IZR n) by (apply Rmult_le_compat_l; auto; now apply IZR_le).
          apply Rle_trans with (part (lam * n + 4096) * bp (e - f)); [|apply Rmult_le_compat_l; [rewrite plus_IZR, mult_IZR; assert (0 <= IZR n) by (apply IZR_le; unfold n; lia); nra|apply bpow_le; lia]].
          rewrite plus_IZR, mult_IZR. pose proof (bpow_gt_0 radix2 (e - f)). cbn. nra.
        * assert (Zs : forall y, In y ts -> is_zero y = true) by (intros y Hy; now apply (largest_none s ts)).
          unfold apart_sum. rewrite (zeros_total s ts Zs), (zeros_sum ts Zs), Rmult_0_l, Rminus_0_r, Rabs_R0. exact U0.
    - destruct R as [q R]. pose proof J as J'. unfold apart_ok in J'. repeat rewrite andb_true_iff in J'. destruct J' as [[[[[Mc _] Kb] _] _] _].
      assert (Hd : forall m, held s m = m) by (intros m; unfold held; now destruct (carry_bits s)). rewrite Hd in R.
      destruct (plus_value (out s) (zsum (counts s (all_parts gs))) (unit_of s (all_parts gs)) q x) as [q' [N [W [EN EQ]]]]. rewrite EQ in R.
      exists (apart_sum s (all_parts gs) + V x). eexists. split; [|split; [unfold monotone_conv in Mc; apply andb_prop in Mc; lia|split; [|reflexivity]]].
      + rewrite (convert_num_flushed _ _ _ _ _ Mc R), EN. reflexivity.
      + replace (_ + V x - _) with (apart_sum s (all_parts gs) - exact_sum (all_parts gs)) by ring. rewrite <- Als in Pg.
        pose proof (beside_units lam own n) as BU.
        assert (u0 : 0 <= part (lam * Z.max (n - 1) 0 + own)) by (rewrite <- BU; now apply units_beside_pos).
        destruct (apart_cut s f (low t) (part lam) (part own) (part rest) n gs J PL PW Ln Pg) as [[C1 C2]|[y [Hy [Zy C]]]].
        * rewrite C1, C2, Rminus_0_r, Rabs_R0. now apply Rmult_le_pos.
        * rewrite BU in C. eapply Rle_trans; [exact C|]. apply Rmult_le_compat_l; auto. apply bpow_le. specialize (Xq y Hy Zy). lia. }
  destruct Main as [y [U [Vy [P [Uy EU]]]]]. rewrite <- EU. pose proof (flushed_ulps (out s) y P) as Fl. rewrite <- Vy in Fl.
  replace (V z - (V x + group_sum gs)) with ((V z - y) + ((y - (V x + exact_sum (all_parts gs))) + (exact_sum (all_parts gs) - group_sum gs))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (y - (V x + exact_sum (all_parts gs))) (exact_sum (all_parts gs) - group_sum gs)). lra.
Qed.
