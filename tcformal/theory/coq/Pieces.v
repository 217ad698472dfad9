(** Products in pieces in a circuit: each piece is the product of two digits with the exponent of the whole. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage After.
Import ListNotations.
Open Scope Z_scope.

(** * Lists of terms with the same sums *)

(** The specification has one term for a zero, a NaN and an Inf, a circuit as many as it has pieces. *)
Record alikes (l r : list val) : Prop := {
  al_special : forall q : val -> bool, (forall x y, q (Num x) = q (Num y)) -> existsb q l = existsb q r;
  al_numbers : forallb is_num l = forallb is_num r;
  al_largest : forall d, normalise d = false -> forallb is_num l = true -> largest d (map num_of l) = largest d (map num_of r);
  al_sum : forall m u, forallb is_num l = true -> zsum (map (cut m u) (map num_of l)) = zsum (map (cut m u) (map num_of r));
  al_zero : forall m u, forallb is_num l = true -> forallb (Z.eqb 0) (map (cut m u) (map num_of l)) = forallb (Z.eqb 0) (map (cut m u) (map num_of r));
  al_all : forall q : bool -> bool, forallb is_num l = true -> forallb (fun x => q (neg x)) (map num_of l) = forallb (fun x => q (neg x)) (map num_of r);
  al_some : forallb is_num l = true -> existsb neg (map num_of l) = existsb neg (map num_of r)
}.

Lemma alikes_refl l : alikes l l.
Proof. constructor; auto. Qed.

Lemma largest_app d l r : largest d (l ++ r) = omax (largest d l) (largest d r).
Proof.
  unfold largest. induction l as [|x l IH]; [reflexivity|]. cbn [app map fold_right]. rewrite IH. destruct (term_exponent d x), (fold_right omax None (map (term_exponent d) l)), (fold_right omax None (map (term_exponent d) r)); cbn [omax]; auto. f_equal. lia.
Qed.

Lemma zsum_app_ l r : zsum (l ++ r) = zsum l + zsum r.
Proof. unfold zsum. induction l as [|x l IH]; auto. cbn [app fold_right]. rewrite IH. lia. Qed.

Lemma alikes_app l r l' r' : alikes l r -> alikes l' r' -> alikes (l ++ l') (r ++ r').
Proof.
  intros [A1 A2 A3 A4 A5 A6 A7] [B1 B2 B3 B4 B5 B6 B7]. constructor; intros; rewrite ?forallb_app in *; try (apply andb_prop in H || apply andb_prop in H0);
    repeat match goal with H : _ /\ _ |- _ => destruct H end; rewrite ?map_app, ?existsb_app, ?forallb_app, ?largest_app, ?zsum_app_.
  - now rewrite (A1 q), (B1 q).
  - now rewrite A2, B2.
  - now rewrite A3, B3.
  - now rewrite A4, B4.
  - now rewrite A5, B5.
  - now rewrite (A6 q), (B6 q).
  - now rewrite A7, B7.
Qed.

Lemma alikes_flat {A} (g h : A -> list val) l : (forall x, In x l -> alikes (g x) (h x)) -> alikes (flat_map g l) (flat_map h l).
Proof. induction l as [|x l IH]; intros H; [apply alikes_refl|]. cbn [flat_map]. apply alikes_app; [apply H; now left|]. apply IH. intros. apply H. now right. Qed.

(** Copies of what counts as nothing. *)
Lemma alikes_copies v r : r <> [] -> (forall w, In w r -> match v, w with Num x, Num y => is_zero x = true /\ is_zero y = true /\ neg x = neg y /\ exp x = exp y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end) -> alikes [v] r.
Proof.
  intros NE H. assert (EX : forall q : val -> bool, (forall w, In w r -> q w = q v) -> existsb q r = q v /\ forallb q r = q v).
  { intros q Q. clear H. induction r as [|w r IH]; [easy|]. cbn [existsb forallb]. rewrite (Q w) by (now left). destruct r as [|w' r]; [cbn; now rewrite orb_false_r, andb_true_r|].
    destruct IH as [-> ->]; [discriminate|intros; apply Q; now right|]. now destruct (q v). }
  constructor.
  - intros q Q. cbn [existsb]. rewrite orb_false_r. symmetry. apply EX. intros w I. specialize (H w I). destruct v, w; try easy; first [apply Q|now subst].
  - cbn [forallb]. rewrite andb_true_r. symmetry. apply EX. intros w I. specialize (H w I). now destruct v, w.
  - intros d N J. destruct v as [x| |]; try easy. cbn [map num_of]. unfold largest at 1. cbn [map fold_right]. 
    assert (TE : forall w, In w r -> term_exponent d (num_of w) = term_exponent d x).
    { intros w I. specialize (H w I). destruct w as [y| |]; try easy. cbn [num_of]. destruct H as [A [B [_ C]]]. unfold term_exponent. now rewrite A, B, C. }
    clear H EX J. replace (omax (term_exponent d x) None) with (term_exponent d x) by (now destruct (term_exponent d x)). symmetry.
    induction r as [|w r IH]; [easy|]. unfold largest. cbn [map fold_right]. rewrite (TE w) by (now left). destruct r as [|w' r]; [now destruct (term_exponent d x)|].
    fold (largest d (map num_of (w' :: r))). rewrite IH; [|discriminate|intros; apply TE; now right]. destruct (term_exponent d x); cbn [omax]; auto. f_equal. lia.
  - intros m u J. destruct v as [x| |]; try easy. assert (Z0 : forall w, In w r -> cut m u (num_of w) = 0). { intros w I. specialize (H w I). destruct w as [y| |]; try easy. apply cut_zero. tauto. }
    assert (X0 : cut m u x = 0). { destruct r as [|w r]; [easy|]. specialize (H w (or_introl eq_refl)). destruct w; try easy. apply cut_zero. tauto. }
    cbn [map num_of]. rewrite X0. clear -Z0. unfold zsum. cbn [fold_right]. induction r as [|w r IH]; auto. cbn [map fold_right]. rewrite (Z0 w) by (now left). rewrite <- IH; [lia|]. intros; apply Z0; now right.
  - intros m u J. destruct v as [x| |]; try easy. assert (Z0 : forall w, In w r -> cut m u (num_of w) = 0). { intros w I. specialize (H w I). destruct w as [y| |]; try easy. apply cut_zero. tauto. }
    assert (X0 : cut m u x = 0). { destruct r as [|w r]; [easy|]. specialize (H w (or_introl eq_refl)). destruct w; try easy. apply cut_zero. tauto. }
    cbn [map num_of]. rewrite X0. clear -Z0. symmetry. apply forallb_forall. intros z I. rewrite map_map in I. apply in_map_iff in I. destruct I as [w [<- I]]. now rewrite Z0.
  - intros q J. destruct v as [x| |]; try easy. assert (P : forall w, In w r -> q (neg (num_of w)) = q (neg x)).
    { intros w I. specialize (H w I). destruct w as [y| |]; try easy. cbn [num_of]. destruct H as [_ [_ [-> _]]]. reflexivity. }
    destruct (EX (fun w => q (neg (num_of w))) P) as [_ E]. cbn [map forallb]. rewrite andb_true_r, forallb_map. symmetry. exact E.
  - intros J. destruct v as [x| |]; try easy. assert (P : forall w, In w r -> neg (num_of w) = neg x) by (intros w I; specialize (H w I); now destruct w).
    destruct (EX (fun w => neg (num_of w)) P) as [E _]. cbn [map existsb]. rewrite orb_false_r, existsb_map. symmetry. exact E.
Qed.

Lemma special_alikes l r : alikes l r -> special_sum l = special_sum r.
Proof. intros [A _ _ _ _ _ _]. unfold special_sum. now rewrite !A by reflexivity. Qed.

Lemma parts_alikes d f l r : fraction_bits d = Some f -> normalise d = false -> alikes l r -> forallb is_num l = true ->
  unit_of d (map num_of l) = unit_of d (map num_of r) /\ zsum (counts d (map num_of l)) = zsum (counts d (map num_of r)) /\
  forall m n, sign_of m n (map num_of l) (counts d (map num_of l)) = sign_of m n (map num_of r) (counts d (map num_of r)).
Proof.
  intros Fb N [_ _ A3 A4 A5 A6 A7] J. assert (U : unit_of d (map num_of l) = unit_of d (map num_of r)) by (unfold unit_of; now rewrite Fb, A3).
  split; [exact U|]. unfold counts. rewrite U. split; [now apply A4|]. intros m n. unfold sign_of. assert (S1 : forallb neg (map num_of l) = forallb neg (map num_of r)) by exact (A6 (fun b => b) J).
  now rewrite (A5 _ _ J), S1, (A6 negb J), (A7 J).
Qed.

Lemma sum_alikes d f l r : fraction_bits d = Some f -> normalise d = false -> alikes l r -> sum_values d l = sum_values d r.
Proof.
  intros Fb N A. unfold sum_values, numbers. rewrite <- (al_numbers _ _ A). destruct (forallb is_num l) eqn:J; [|now apply special_alikes].
  destruct (parts_alikes d f l r Fb N A J) as [U [C S]]. unfold sum_numbers, total. now rewrite U, C, S.
Qed.

Lemma after_alikes d f l r c : fraction_bits d = Some f -> normalise d = false -> alikes l r -> after_value d l c = after_value d r c.
Proof.
  intros Fb N A. pose proof (alikes_app _ _ _ _ A (alikes_refl [c])) as AC. unfold after_value, on_numbers, numbers. rewrite <- (al_numbers _ _ AC). destruct (forallb is_num (l ++ [c])) eqn:J; [|now apply special_alikes].
  rewrite forallb_app in J. apply andb_prop in J. destruct J as [J _]. destruct (parts_alikes d f l r Fb N A J) as [U [C S]]. unfold after_numbers. now rewrite U, C, S.
Qed.

(** * Pieces *)

Definition digit (size s : Z) (i : nat) : Z := s / 2 ^ (size * Z.of_nat i) mod 2 ^ size.

(** The places of the digits that are multiplied, of significands with [ta] and [tb] fraction bits. *)
Definition digit_places (size : Z) (dropped : nat) (ta tb : Z) : list (nat * nat) :=
  flat_map (fun i => flat_map (fun j => if (dropped <=? i + j)%nat then [(i, j)] else []) (seq 0 (Z.to_nat (tb / size + 1)))) (seq 0 (Z.to_nat (ta / size + 1))).

Definition piece (size : Z) (a b x : num) (ij : nat * nat) : num :=
  {| neg := neg x; sig := digit size (sig a) (fst ij) * digit size (sig b) (snd ij); exp := exp x; frac := frac a - size * Z.of_nat (fst ij) + (frac b - size * Z.of_nat (snd ij)) |}.

Lemma pieces_are size dropped a b x : is_zero x = false -> pieces size dropped a b x = map (piece size a b x) (digit_places size dropped (frac a) (frac b)).
Proof.
  intros Z0. unfold pieces, digit_places, digits. rewrite Z0.
  assert (NU : forall {A} (g : Z -> A) n j, numbered j (map g (map Z.of_nat (seq j n))) = map (fun i => (i, g (Z.of_nat i))) (seq j n)).
  { clear. induction n as [|n IH]; intros j; auto. cbn [seq map numbered]. now rewrite IH. }
  rewrite !NU. generalize (seq 0 (Z.to_nat (frac b / size + 1))). intros lb. generalize (seq 0 (Z.to_nat (frac a / size + 1))). intros la.
  induction la as [|i la IH]; auto. cbn [map flat_map]. rewrite map_app, <- IH. f_equal. clear. cbn [fst snd].
  induction lb as [|j lb IH]; auto. cbn [map flat_map]. rewrite map_app, <- IH. f_equal. cbn [fst snd]. now destruct (dropped <=? i + j)%nat.
Qed.

(** The terms of a product in the specification, and as a circuit has them. *)
Definition spec_terms (size : Z) (dropped : nat) (a b v : val) : list val :=
  match v with Num y => map Num (pieces size dropped (num_of a) (num_of b) y) | w => [w] end.
Definition full_terms (size : Z) (dropped : nat) (ta tb : Z) (a b v : val) : list val :=
  map (fun ij => match v with Num y => Num (piece size (num_of a) (num_of b) y ij) | w => w end) (digit_places size dropped ta tb).

Lemma terms_alike size dropped ta tb a b v : digit_places size dropped ta tb <> [] ->
  (forall y, v = Num y -> sig y = sig (num_of a) * sig (num_of b) /\ frac (num_of a) = ta /\ frac (num_of b) = tb) ->
  alikes (spec_terms size dropped a b v) (full_terms size dropped ta tb a b v).
Proof.
  intros NE H. unfold spec_terms, full_terms. set (ps := digit_places size dropped ta tb) in *.
  assert (NM : forall g : nat * nat -> val, map g ps <> []) by (intros g Q; apply map_eq_nil in Q; auto).
  destruct v as [y|s|].
  2,3: apply alikes_copies; auto; intros w I; apply in_map_iff in I; destruct I as [ij [<- _]]; auto.
  destruct (H y eq_refl) as [S [FA FB]]. destruct (is_zero y) eqn:Z0.
  - unfold pieces. rewrite Z0. apply alikes_copies; auto. intros w I. apply in_map_iff in I. destruct I as [ij [<- _]]. repeat split; auto. unfold is_zero, piece in *. cbn [sig]. apply Z.eqb_eq in Z0. rewrite S in Z0.
    apply Z.eqb_eq. assert (D0 : forall i, digit size 0 i = 0) by (intros; unfold digit; now rewrite Zdiv.Zdiv_0_l, Zdiv.Zmod_0_l).
    apply Z.mul_eq_0 in Z0. destruct Z0 as [-> | ->]; rewrite D0; lia.
  - rewrite (pieces_are _ _ _ _ _ Z0), FA, FB. rewrite map_map. apply alikes_refl.
Qed.

(** * The claims about them *)

Section Claims.
(** [sa], [sb]: the significands of the factors; [r]: the product. *)
Variables (size : Z) (dropped : nat) (ta tb : Z) (sa sb : term) (r : number) (zs : list number).

Definition piece_claim (pz : (nat * nat) * number) : claim :=
  let '((i, j), z) := pz in
  Claim [finite r] (Equal (U (significand z))
    (Times (Times (Bits (size * Z.of_nat i) size sa) (Bits (size * Z.of_nat j) size sb)) (Num_ (2 ^ (size * (Z.of_nat i + Z.of_nat j)))))).
Definition pieces_claims : list claim := map piece_claim (combine (digit_places size dropped ta tb) zs).

Definition piece_of (z : number) : bool := number_eqb (Number (sign z) (significand r) (code z) (low z) (bits_below z) (nan z) (inf z)) r.
Definition pieces_ok : bool := (length zs =? length (digit_places size dropped ta tb))%nat && forallb piece_of zs && (bits_below r =? ta + tb) && (0 <? size).
End Claims.

Section Sound.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.

Theorem pieces_sound size dropped ta tb sa sb r zs a b w : pieces_ok size dropped ta tb r zs = true -> Forall (holds ct) (pieces_claims size dropped ta tb sa sb r zs) -> same_val w (val_in v r) ->
  (forall y, w = Num y -> sig (num_of a) = value m v sa /\ sig (num_of b) = value m v sb /\ frac (num_of a) = ta /\ frac (num_of b) = tb) ->
  Forall2 same_val (full_terms size dropped ta tb a b w) (map (val_in v) zs).
Proof.
  unfold pieces_ok, pieces_claims, full_terms. rewrite !andb_true_iff, Nat.eqb_eq, Z.eqb_eq, Z.ltb_lt. intros [[[L P] B] SZ] CL S H. revert L CL. generalize (digit_places size dropped ta tb). intros ps. revert zs P.
  induction ps as [|[i j] ps IH]; intros zs P L CL; destruct zs as [|z zs]; try easy; [constructor|]. cbn [forallb] in P. apply andb_prop in P. destruct P as [P0 P].
  cbn [combine map] in CL |- *. apply Forall_cons_iff in CL. destruct CL as [C0 CL]. constructor; [|apply IH; auto]. clear IH CL P L zs.
  unfold piece_of in P0. apply number_eq in P0. pose proof (f_equal sign P0) as P1. pose proof (f_equal code P0) as P2. pose proof (f_equal low P0) as P3. pose proof (f_equal bits_below P0) as P4. pose proof (f_equal nan P0) as P5. pose proof (f_equal inf P0) as P6. cbn in P1, P2, P3, P4, P5, P6.
  unfold val_in. rewrite P5, P6, P1. unfold val_in in S. destruct w as [y|s|].
  2,3: destruct (v (nan r) =? 1); [easy|]; destruct (v (inf r) =? 1); easy.
  destruct (v (nan r) =? 1) eqn:N; [easy|]. destruct (v (inf r) =? 1) eqn:I; [easy|]. destruct (H y eq_refl) as [SA [SB [FA FB]]]. destruct S as [NY [EY _]].
  assert (F : truth m v (finite r) = true) by (unfold finite; cbn [truth]; now rewrite N, I).
  pose proof (C0 v SOL) as Q. unfold piece_claim in Q. cbn [given forallb goal] in Q. fold m in Q. rewrite F in Q. specialize (Q eq_refl). cbn [truth value] in Q. apply Z.eqb_eq in Q. fold m in Q.
  unfold same_val, same, piece; cbn [neg exp sig frac fst snd]. unfold num_in in *. cbn [neg exp sig frac] in *. rewrite P1, P2, P3, P4. repeat split; auto.
  unfold V, signed, lsb; cbn [neg sig exp frac]. rewrite Q, FA, FB, SA, SB, EY. fold (digit size (value m v sa) i) (digit size (value m v sb) j).
  replace (v (code r) + low r - (ta - size * Z.of_nat i + (tb - size * Z.of_nat j))) with (size * (Z.of_nat i + Z.of_nat j) + (v (code r) + low r - bits_below r)) by lia.
  rewrite Flocq.Core.Raux.bpow_plus, (bp_Z (size * (Z.of_nat i + Z.of_nat j))) by nia. rewrite NY. destruct (v (sign r) =? 1); rewrite ?opp_IZR, !mult_IZR; ring.
Qed.
End Sound.
