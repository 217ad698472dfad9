(** Negated factors and a negated c give the negated result, zeros of either sign and NaNs counted as equal: of every design
    whose sums are fused sums, in any order, under roundings that are symmetric. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant.
Import ListNotations.
Open Scope Z_scope.

(** Opposite values, significands not negative. *)
Definition whole_sig (v : val) : Prop := forall x, v = Num x -> 0 <= sig x.
Definition mirrored (v w : val) : Prop := opposite_val v w /\ whole_sig v /\ whole_sig w.

Lemma Forall2_length {A B} (R : A -> B -> Prop) l m : Forall2 R l m -> length l = length m.
Proof. induction 1; cbn; congruence. Qed.

Lemma mirrored_num x y : mirrored (Num x) (Num y) ->
  sig y = sig x /\ 0 <= sig x /\ exp y = exp x /\ frac y = frac x /\ (sig x = 0 \/ neg y = negb (neg x)).
Proof.
  intros [[A [B C]] [D E]]. specialize (D x eq_refl). specialize (E y eq_refl). unfold signed in A.
  destruct (neg x), (neg y); repeat split; auto; try lia; try (right; reflexivity); left; lia.
Qed.

Lemma num_mirrored x y : sig y = sig x -> 0 <= sig x -> exp y = exp x -> frac y = frac x ->
  (sig x = 0 \/ neg y = negb (neg x)) -> mirrored (Num x) (Num y).
Proof.
  intros A B C D E. split; [|split; intros z Hz; injection Hz as <-; lia]. unfold opposite_val, opposite, signed. rewrite A.
  split; auto. destruct E as [E|E]; [rewrite E; destruct (neg x), (neg y); reflexivity|]. rewrite E. destruct (neg x); cbn; lia.
Qed.

Lemma convert_whole c s n u : 0 <= p c -> whole_sig (convert c s n u).
Proof.
  intros P x. unfold convert. destruct (_ || _); [intros H; injection H as <-; cbn; lia|].
  destruct (emax c <? _).
  - destruct (is_infinite c n); [easy|]. intros H; injection H as <-. cbn [sig].
    assert (0 < 2 ^ (p c + 1)) by (apply Z.pow_pos_nonneg; lia). lia.
  - intros H; injection H as <-; cbn; lia.
Qed.

Lemma special_whole vs : whole_sig (special_sum vs).
Proof. intros x H. exfalso. now apply (special_not_num vs x). Qed.

Lemma sum_whole d vs : 0 <= p (out d) -> whole_sig (sum_values d vs).
Proof.
  intros P. unfold sum_values. destruct (numbers vs); [|apply special_whole]. now apply convert_whole.
Qed.

(** Stages that are symmetric. *)
Definition mirrors (s : stage) : bool :=
  match s with Stage d => negation_claim d && (0 <=? p (out d)) | FixedStage _ _ => false end.

Lemma mirrored_opposite vs ws : Forall2 mirrored vs ws -> Forall2 opposite_val vs ws.
Proof. induction 1; constructor; auto. apply H. Qed.

Lemma add_mirrored s vs ws : mirrors s = true -> Forall2 mirrored vs ws -> mirrored (add s vs) (add s ws).
Proof.
  intros M H. destruct s as [d|]; [|easy]. cbn [mirrors] in M. apply andb_prop in M. destruct M as [M P]. apply Z.leb_le in P.
  cbn [add]. split; [|split; now apply sum_whole]. apply sum_negation; auto. now apply mirrored_opposite.
Qed.

Lemma flush_mirrored r v w : mirrored v w -> mirrored (flush r v) (flush r w).
Proof.
  intros H. destruct v as [x| |], w as [y| |]; try (now destruct H); auto.
  destruct (mirrored_num _ _ H) as [A [B [C [D E]]]]. unfold flush.
  assert (S : is_subnormal y = is_subnormal x) by (unfold is_subnormal, is_zero; now rewrite A, D).
  rewrite S. destruct (is_subnormal x) eqn:Q; cbn [negb]; auto. pose proof (Z.pow_nonneg 2 (frac x)).
  destruct r; try (apply num_mirrored; cbn; auto; lia); auto.
  apply num_mirrored; cbn [sig exp frac neg]; try (rewrite ?A, ?C, ?D; lia). destruct E as [E|E]; [|now right].
  unfold is_subnormal, is_zero in Q. now rewrite E in Q.
Qed.

Lemma product_mirrored v w f g : mirrored v w -> f = g \/ False -> whole_sig f -> mirrored (product v f) (product w g).
Proof.
  intros H [<-|[]] W. destruct v as [x| |], w as [y| |]; try (now destruct H).
  - destruct (mirrored_num _ _ H) as [A [B [C [D E]]]]. destruct f as [z|s|]; cbn [product].
    + specialize (W z eq_refl). apply num_mirrored; unfold times; cbn [sig exp frac neg]; rewrite ?A, ?C, ?D; auto; try nia.
      destruct E as [-> | ->]; [left; lia|]. right. now destruct (neg x), (neg z).
    + assert (Z : is_zero y = is_zero x) by (unfold is_zero; now rewrite A). rewrite Z.
      destruct (is_zero x) eqn:Q; [split; [exact I|split; intros ? ?; easy]|].
      split; [|split; intros ? ?; easy]. cbn. unfold is_zero in Q. apply Z.eqb_neq in Q. destruct E as [E|E]; [lia|]. rewrite E.
      now destruct s, (neg x).
    + split; [exact I|split; intros ? ?; easy].
  - destruct H as [H _]. cbn in H. subst. destruct f as [z|t|]; cbn [product].
    + destruct (is_zero z); split; try exact I; try (split; intros ? ?; easy). cbn. now destruct s, (neg z).
    + split; [cbn; now destruct s, t|split; intros ? ?; easy].
    + split; [exact I|split; intros ? ?; easy].
Qed.

Lemma normalised_mirrored v w : mirrored v w -> mirrored (on_num normalised v) (on_num normalised w).
Proof.
  intros H. destruct v as [x| |], w as [y| |]; try (now destruct H); auto.
  destruct (mirrored_num _ _ H) as [A [B [C [D E]]]]. cbn [on_num]. unfold normalised.
  assert (S : is_subnormal y = is_subnormal x) by (unfold is_subnormal, is_zero; now rewrite A, D).
  rewrite S. destruct (is_subnormal x) eqn:Q; auto. rewrite A, C, D.
  assert (P : 0 < 2 ^ (frac x - Z.log2 (sig x))).
  { unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q. apply Z.pow_pos_nonneg; lia. }
  apply num_mirrored; cbn [sig exp frac neg]; auto; try nia. destruct E as [-> | ->]; auto.
Qed.

Lemma negate_mirrored v w : mirrored v w -> mirrored (negate v) (negate w).
Proof.
  intros H. destruct v as [x| |], w as [y| |]; try (now destruct H); auto.
  - destruct (mirrored_num _ _ H) as [A [B [C [D E]]]]. apply num_mirrored; cbn; auto. destruct E as [-> | ->]; auto.
  - destruct H as [H _]. cbn in H. subst. split; [cbn; now destruct s|split; intros ? ?; easy].
Qed.

Lemma factor_mirrored q r v w : mirrored v w -> mirrored (factor q r v) (factor q r w).
Proof.
  intros H. unfold factor. pose proof (flush_mirrored r _ _ H). destruct (normalise_factors q); auto using normalised_mirrored.
Qed.

Lemma flush_whole r v : whole_sig v -> whole_sig (flush r v).
Proof.
  intros H x E. destruct v as [y| |]; try easy. unfold flush in E. destruct (negb (is_subnormal y)); [now apply H|].
  specialize (H y eq_refl). pose proof (Z.pow_nonneg 2 (frac y)). destruct r; injection E as <-; cbn; lia.
Qed.

Lemma decode_whole f w : format_ok f = true -> whole_sig (decode f w).
Proof. intros O x H. destruct (decode_num _ _ _ O H). lia. Qed.

Lemma factor_whole q r v : whole_sig v -> whole_sig (factor q r v).
Proof.
  intros H. unfold factor. pose proof (flush_whole r v H) as F. destruct (normalise_factors q); auto.
  intros x E. destruct (flush r v) as [y| |]; try easy. injection E as <-. unfold normalised.
  specialize (F y eq_refl). destruct (is_subnormal y) eqn:Q; auto. cbn.
  unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q.
  assert (0 < 2 ^ (frac y - Z.log2 (sig y))) by (apply Z.pow_pos_nonneg; lia). nia.
Qed.

(** Rounded products: the rounding is symmetric. *)
Definition rounds_mirrored (o : option rounding) : bool :=
  match o with None => true | Some (Floating c) => symmetric (rho c) && (0 <=? p c) | _ => false end.

(** Zeros that count as ones show their signs: those have to be opposite as well. *)
Definition strictly (z : option Z) (v w : val) : Prop := match z with None => True | Some _ => w = negate v end.
Definition keeps_sign (z : option Z) (r : flush_rule) : bool := match z, r with Some _, PositiveZero => false | _, _ => true end.

Lemma flush_strictly z r v w : keeps_sign z r = true -> strictly z v w -> strictly z (flush r v) (flush r w).
Proof.
  destruct z as [e|]; [|easy]. cbn [strictly keeps_sign]. intros K ->. destruct v as [x| |]; try reflexivity. unfold flush, negate.
  change (is_subnormal {| neg := negb (neg x); sig := sig x; exp := exp x; frac := frac x |}) with (is_subnormal x).
  destruct (negb (is_subnormal x)); [reflexivity|]. destruct r; try easy; reflexivity.
Qed.

Lemma factor_strictly q r v w : keeps_sign (zero_terms q) r = true -> strictly (zero_terms q) v w -> strictly (zero_terms q) (factor q r v) (factor q r w).
Proof.
  intros K H. pose proof (flush_strictly _ r _ _ K H) as F. unfold factor. destruct (normalise_factors q); auto. destruct (zero_terms q) as [e|]; [|easy].
  cbn [strictly] in *. rewrite F. destruct (flush r v) as [x| |]; try reflexivity. cbn [on_num negate]. unfold normalised.
  change (is_subnormal {| neg := negb (neg x); sig := sig x; exp := exp x; frac := frac x |}) with (is_subnormal x). destruct (is_subnormal x); reflexivity.
Qed.

Lemma zero_mirrored_as z x y v w : neg y = negb (neg x) /\ sig y = sig x /\ frac y = frac x /\ 0 <= sig x \/ z = None ->
  mirrored v w -> mirrored (zero_as z x v) (zero_as z y w).
Proof.
  intros H M. destruct z as [e|]; [|now rewrite !zero_as_none]. destruct H as [[N [S [F P]]]|H]; [|easy]. unfold zero_as.
  destruct v as [a| |], w as [b| |]; try (now destruct M); auto. destruct (mirrored_num _ _ M) as [A _].
  assert (Z : is_zero b = is_zero a) by (unfold is_zero; now rewrite A). rewrite Z. destruct (is_zero a); auto. apply num_mirrored; cbn; auto.
Qed.

Lemma as_one_opposite x y : neg y = negb (neg x) -> sig y = sig x -> frac y = frac x ->
  neg (as_one y) = negb (neg (as_one x)) /\ sig (as_one y) = sig (as_one x) /\ frac (as_one y) = frac (as_one x).
Proof. intros N S F. unfold as_one, is_zero. rewrite S, F. destruct (sig x =? 0); cbn; auto. Qed.

Lemma as_one_whole x : 0 <= sig x -> 0 <= sig (as_one x).
Proof. intros H. unfold as_one. destruct (is_zero x); cbn [sig]; auto. apply Z.pow_nonneg. lia. Qed.

Lemma num_of_whole v : whole_sig v -> 0 <= sig (num_of v).
Proof. intros H. destruct v as [x| |]; cbn; try lia. now apply H. Qed.

(** A zero product counts as that of ones. *)
Lemma zero_product_mirrored z v w f : strictly z v w -> mirrored v w -> whole_sig f ->
  mirrored (zero_as z (times (as_one (num_of v)) (as_one (num_of f))) (product v f)) (zero_as z (times (as_one (num_of w)) (as_one (num_of f))) (product w f)).
Proof.
  intros S M W. assert (P : mirrored (product v f) (product w f)) by (apply product_mirrored; auto).
  destruct z as [e|]; [|now rewrite !zero_as_none]. cbn [strictly] in S. subst w. pose proof M as M'. destruct M' as [_ [Wv _]].
  destruct v as [x|s|].
  - apply zero_mirrored_as; auto. left. destruct (as_one_opposite x (num_of (negate (Num x)))) as [A [B C]]; auto. cbn [num_of] in *.
    pose proof (as_one_whole x (Wv x eq_refl)). pose proof (as_one_whole _ (num_of_whole f W)). cbn [times neg sig frac]. rewrite A, B, C. repeat split; auto; [|nia].
    now destruct (neg (as_one x)), (neg (as_one (num_of f))).
  - cbn [negate product] in *. destruct f as [y|t|]; cbn [zero_as]; auto. destruct (is_zero y); cbn [zero_as]; auto.
  - destruct f; cbn in *; auto.
Qed.

Lemma scaled_mirrored q v w f k ss : strictly (zero_terms q) v w -> rounds_mirrored (product_rounding q) = true ->
  mirrored v w -> whole_sig f -> Forall whole_sig ss ->
  mirrored (scaled_product q v f k ss) (scaled_product q w f k ss).
Proof.
  intros Z R H W F. unfold scaled_product. cbv zeta. pose proof (zero_product_mirrored (zero_terms q) v w f Z H W) as P.
  set (pv := zero_as _ _ (product v f)) in *. set (pw := zero_as _ _ (product w f)) in *.
  assert (N : mirrored (if subtracted q k then negate pv else pv) (if subtracted q k then negate pw else pw)).
  { destruct (subtracted _ _); auto using negate_mirrored. }
  assert (S : mirrored (fold_left product ss (if subtracted q k then negate pv else pv)) (fold_left product ss (if subtracted q k then negate pw else pw))).
  { revert N. generalize (if subtracted q k then negate pv else pv) as a. generalize (if subtracted q k then negate pw else pw) as b. clear -F. induction F as [|s r Hs F IH]; intros b a N; auto. cbn [fold_left]. apply IH. apply product_mirrored; auto. }
  destruct (fold_left product ss _) as [x|s|], (fold_left product ss _) as [y|t|]; try (now destruct S); auto.
  destruct (mirrored_num _ _ S) as [A [B [C [D E]]]].
  assert (Q : (match product_limit q with Some l => negb (is_zero y) && (l <=? own_exponent y) | None => false end) =
              (match product_limit q with Some l => negb (is_zero x) && (l <=? own_exponent x) | None => false end)).
  { destruct (product_limit q); auto. unfold is_zero, own_exponent, lsb. now rewrite A, C, D. }
  rewrite Q. destruct (match product_limit q with Some l => negb (is_zero x) && (l <=? own_exponent x) | None => false end) eqn:Lim.
  - split; [|split; intros ? ?; easy]. cbn. destruct E as [E|E]; auto. exfalso.
    destruct (product_limit q); [|easy]. unfold is_zero in Lim. rewrite E in Lim. easy.
  - destruct (product_rounding q) as [[c|]|]; try easy. cbn in R. apply andb_prop in R. destruct R as [R1 R2]. apply Z.leb_le in R2.
    unfold round_num, round_to. replace (signed y) with (- signed x) by (destruct S as [[S _] _]; symmetry; exact S).
    replace (lsb y) with (lsb x) by (unfold lsb; now rewrite C, D).
    split; [now apply convert_opp|]. split; now apply convert_whole.
Qed.

(** * What a product becomes *)

Lemma opposite_least ts us : Forall2 opposite ts us -> least_lsb us = least_lsb ts.
Proof.
  intros H. unfold least_lsb. destruct H as [|x y ts us Hx H]; auto. unfold lsb at 1 3. destruct Hx as [_ [-> ->]]. f_equal.
  induction H as [|x' y' ts us [_ [E1 E2]] H IH]; simpl; auto. unfold lsb at 1 3. now rewrite E1, E2, IH.
Qed.

Lemma opposite_cut m u ts us : symmetric m = true -> Forall2 opposite ts us -> map (cut m u) us = map Z.opp (map (cut m u) ts).
Proof.
  intros S H. induction H as [|x y ts us [E1 [E2 E3]] H IH]; simpl; auto. rewrite IH. f_equal.
  unfold cut, lsb. rewrite E1, E2, E3. now apply round_div_opp.
Qed.

Lemma opposite_sign m ts us ns ms n : n <> 0 -> sign_of m (- n) us ms = negb (sign_of m n ts ns).
Proof. intros N. unfold sign_of. destruct (Z.eqb_spec n 0), (Z.eqb_spec (- n) 0); try lia. cbn. destruct (Z.ltb_spec n 0), (Z.ltb_spec (- n) 0); lia || reflexivity. Qed.

Lemma live_mirrored v w : mirrored v w ->
  match v with Num y => negb (is_zero y) | _ => false end = match w with Num y => negb (is_zero y) | _ => false end.
Proof.
  intros H. destruct v as [x| |], w as [y| |]; try (now destruct H); auto. destruct (mirrored_num _ _ H) as [A _]. unfold is_zero. now rewrite A.
Qed.

Lemma products_mirrored ss v w : Forall whole_sig ss -> mirrored v w -> mirrored (fold_left product ss v) (fold_left product ss w).
Proof. intros F. revert v w. induction F as [|s r Hs F IH]; intros v w H; auto. cbn [fold_left]. apply IH. apply product_mirrored; auto. Qed.

Lemma group_mirrored m ps qs ss : Forall2 mirrored ps qs -> Forall whole_sig ss ->
  mirrored (fst (group_term m ps ss)) (fst (group_term m qs ss)) /\ snd (group_term m qs ss) = snd (group_term m ps ss).
Proof.
  intros H W. unfold group_term.
  set (one := match numbers ps with Some ts => _ | None => special_sum ps end).
  set (two := match numbers qs with Some ts => _ | None => special_sum qs end).
  assert (O : mirrored one two).
  { pose proof (mirrored_opposite _ _ H) as Ho. pose proof (opposite_numbers _ _ Ho) as N. unfold one, two.
    destruct (numbers ps) as [ts|] eqn:E, (numbers qs) as [us|] eqn:E'; try easy.
    - cbv zeta. rewrite (opposite_least _ _ N), (opposite_cut RZ _ _ _ eq_refl N), zsum_opp. set (u := least_lsb ts). set (n := zsum (map (cut RZ u) ts)).
      apply num_mirrored; cbn [sig exp frac neg]; auto; [lia|lia|]. destruct (Z.eq_dec n 0) as [Q|Q]; [left; lia|right; now apply opposite_sign].
    - split; [now apply opposite_special|split; apply special_whole]. }
  assert (P : mirrored (fold_left product ss one) (fold_left product ss two)) by now apply products_mirrored.
  assert (L : existsb (fun x => match x with Num y => negb (is_zero y) | _ => false end) ps =
              existsb (fun x => match x with Num y => negb (is_zero y) | _ => false end) qs) by (apply existsb_2 with (R := mirrored); auto using live_mirrored).
  cbv zeta. rewrite <- L. destruct one as [x| |], two as [y| |]; try (now destruct O);
    destruct (fold_left product ss _) as [a| |], (fold_left product ss _) as [b| |]; try (now destruct P); cbn [fst snd]; split; auto.
  destruct (mirrored_num _ _ O) as [A _]. destruct (mirrored_num _ _ P) as [_ [_ [B _]]]. unfold is_zero. now rewrite A, B.
Qed.

Lemma pieces_mirrored size n a a' f x y : 0 < size -> sig a' = sig a -> frac a' = frac a -> mirrored (Num x) (Num y) ->
  Forall2 mirrored (map Num (pieces size n a f x)) (map Num (pieces size n a' f y)).
Proof.
  intros Ps Sa Fa H. destruct (mirrored_num _ _ H) as [A [B [C [D E]]]]. unfold pieces. assert (Zy : is_zero y = is_zero x) by (unfold is_zero; now rewrite A).
  rewrite Zy, Sa, Fa. destruct (is_zero x) eqn:Q; [repeat constructor; auto; apply H|].
  assert (N : neg y = negb (neg x)). { destruct E as [E|E]; auto. unfold is_zero in Q. rewrite E in Q. easy. }
  assert (G : forall l k, Forall (fun p => 0 <= fst (snd p)) l -> Forall (fun p => 0 <= fst (snd p)) k ->
    Forall2 mirrored
      (map Num (flat_map (fun p => flat_map (fun q => if (n <=? fst p + fst q)%nat
        then [{| neg := neg x; sig := fst (snd p) * fst (snd q); exp := exp x; frac := snd (snd p) + snd (snd q) |}] else []) k) l))
      (map Num (flat_map (fun p => flat_map (fun q => if (n <=? fst p + fst q)%nat
        then [{| neg := neg y; sig := fst (snd p) * fst (snd q); exp := exp y; frac := snd (snd p) + snd (snd q) |}] else []) k) (l : list (nat * (Z * Z)))))).
  { intros l k Hl Hk. induction Hl as [|p l Hp Hl IH]; cbn [flat_map map]; [constructor|]. rewrite !map_app. apply Forall2_app; auto.
    clear IH Hl. induction Hk as [|q k Hq Hk IH]; cbn [flat_map map]; [constructor|]. rewrite !map_app. apply Forall2_app; auto.
    destruct (n <=? fst p + fst q)%nat; cbn [map]; constructor; [|constructor]. apply num_mirrored; cbn [sig exp frac neg]; auto; nia. }
  assert (P : forall i l, Forall (fun p : Z * Z => 0 <= fst p) l -> Forall (fun p : nat * (Z * Z) => 0 <= fst (snd p)) (numbered i l)).
  { intros i l F. revert i. induction F; intros i; cbn; constructor; auto. }
  assert (I : forall t s, Forall (fun p : Z * Z => 0 <= fst p) (digits size t s)).
  { intros t s. unfold digits. apply Forall_forall. intros p Hp. apply in_map_iff in Hp. destruct Hp as [i [<- _]]. cbn [fst].
    apply Z.mod_pos_bound. apply Z.pow_pos_nonneg; lia. }
  apply G; auto.
Qed.


(** Sums with a unit from elsewhere, and a c that is added to one. *)
Lemma held_exact d n : carry_bits d = None -> held d n = n.
Proof. unfold held. now intros ->. Qed.

Lemma at_mirrored d u ts us : negation_claim d = true -> 0 <= p (out d) -> Forall2 opposite ts us ->
  mirrored (sum_at d (Floating (out d)) u ts) (sum_at d (Floating (out d)) u us).
Proof.
  intros O P H. unfold negation_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[A R] K].
  assert (C : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_at. cbv zeta. rewrite !held_exact, (opposite_cut _ _ _ _ A H), zsum_opp by auto. cbn [round_to].
  split; [now apply convert_opp|split; now apply convert_whole].
Qed.

Lemma from_mirrored e s vs ws : mirrors s = true -> Forall2 mirrored vs ws -> mirrored (add_from e s vs) (add_from e s ws).
Proof.
  intros M H. destruct e as [e|]; [|now apply add_mirrored]. destruct s as [d|]; [|easy]. cbn [mirrors] in M. apply andb_prop in M. destruct M as [M P].
  apply Z.leb_le in P. cbn [add_from stage_rounding]. unfold on_numbers. pose proof (mirrored_opposite _ _ H) as Ho. pose proof (opposite_numbers _ _ Ho) as N.
  destruct (numbers vs) as [ts|] eqn:E, (numbers ws) as [us|] eqn:E'; try easy.
  - cbv zeta. assert (L : largest d us = largest d ts).
    { unfold largest. f_equal. clear E E'. induction N as [|x y ts us Hx N IH]; cbn [map]; auto. now rewrite IH, (opposite_exponent d _ _ Hx). }
    rewrite (opposite_least _ _ N), L. now apply at_mirrored.
  - split; [now apply opposite_special|split; apply special_whole].
Qed.

Lemma plus_mirrored c n u s t x y : symmetric (rho c) = true -> 0 <= p c -> opposite x y -> mirrored (plus c n u s x) (plus c (- n) u t y).
Proof.
  intros S P [E1 [E2 E3]]. unfold plus. cbv zeta. unfold lsb. rewrite E1, E2, E3.
  replace (- n * 2 ^ (u - Z.min u (exp x - frac x)) + - signed x * 2 ^ (exp x - frac x - Z.min u (exp x - frac x)))
    with (- (n * 2 ^ (u - Z.min u (exp x - frac x)) + signed x * 2 ^ (exp x - frac x - Z.min u (exp x - frac x)))) by lia.
  split; [now apply convert_opp|split; now apply convert_whole].
Qed.

Lemma num_of_mirrored v w : mirrored v w -> opposite (num_of v) (num_of w).
Proof. intros [H _]. destruct v as [x|s|], w as [y|t|]; try easy; cbn; repeat split. Qed.

Lemma numbers_mirrored (g h : list num -> val) vs ws : Forall2 mirrored vs ws -> (forall ts us, mirrored (g ts) (h us)) ->
  mirrored (on_numbers g vs) (on_numbers h ws).
Proof.
  intros H G. unfold on_numbers. pose proof (mirrored_opposite _ _ H) as Ho. pose proof (opposite_numbers _ _ Ho) as N.
  destruct (numbers vs) as [ts|] eqn:E, (numbers ws) as [us|] eqn:E'; try easy.
  split; [now apply opposite_special|split; apply special_whole].
Qed.

Lemma after_mirrored d r fs fs' e e' ps qs c c' : negation_claim d = true -> 0 <= p (out d) -> Forall2 mirrored ps qs -> mirrored c c' ->
  mirrored (block_sum (CAfter d false) r e fs ps c) (block_sum (CAfter d false) r e' fs' qs c').
Proof.
  intros O P H Hc. cbn [block_sum]. apply numbers_mirrored; [apply Forall2_app; auto|]. intros _ _. cbv zeta.
  assert (Q : Forall2 opposite (map num_of ps) (map num_of qs)) by (induction H; cbn; constructor; auto using num_of_mirrored).
  unfold negation_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[A R] K]. assert (C : carry_bits d = None) by now destruct (carry_bits d).
  rewrite !held_exact, (opposite_unit d _ _ Q), (opposite_counts d _ _ A Q), zsum_opp by auto. apply plus_mirrored; auto using num_of_mirrored.
Qed.

(** Sticky sums: the lowest number that the register holds is its own opposite, and counts as a zero. *)
Lemma wrap_opp w n : 0 < w -> wrap w (- n) = if wrap w n =? - 2 ^ (w - 1) then wrap w n else - wrap w n.
Proof.
  intros W. unfold wrap. set (h := 2 ^ (w - 1)). assert (H : 2 ^ w = 2 * h) by (unfold h; rewrite <- Z.pow_succ_r by lia; f_equal; lia). rewrite H.
  assert (h0 : 0 < h) by (apply Z.pow_pos_nonneg; lia). pose proof (Z.mod_pos_bound (n + h) (2 * h) ltac:(lia)) as B.
  pose proof (Z.div_mod (n + h) (2 * h) ltac:(lia)) as D. set (q := (n + h) / (2 * h)) in *. set (r := (n + h) mod (2 * h)) in *.
  destruct (Z.eqb_spec (r - h) (- h)) as [E|E].
  - replace (- n + h) with ((1 - q) * (2 * h)) by lia. rewrite Z.mod_mul by lia. lia.
  - replace (- n + h) with (2 * h - r + (- q) * (2 * h)) by lia. rewrite Z.mod_add by lia. rewrite Z.mod_small by lia. lia.
Qed.

Definition sticky_mirrors (d : sum) : bool :=
  symmetric (alignment d) && symmetric (rho (out d)) && (0 <=? p (out d)) &&
  match carry_bits d, fraction_bits d with Some k, Some f => 0 <=? f + 1 + k | _, _ => true end.

Lemma sticky_mirrored d ts us : sticky_mirrors d = true -> Forall2 opposite ts us -> mirrored (sticky_sum d ts) (sticky_sum d us).
Proof.
  unfold sticky_mirrors. intros O H. repeat rewrite andb_true_iff in O. destruct O as [[[A R] P] K]. apply Z.leb_le in P.
  unfold sticky_sum. cbv zeta. rewrite (opposite_unit d _ _ H), (opposite_cut _ _ _ _ A H), zsum_opp. set (u := unit_of d ts). set (ns := map (cut (alignment d) u) ts).
  assert (La : largest d us = largest d ts).
  { unfold largest. f_equal. clear -H. induction H as [|x y ts us Hx H IH]; cbn [map]; auto. now rewrite IH, (opposite_exponent d _ _ Hx). }
  assert (Lo : existsb (fun x => negb (cut RZ u x * 2 ^ Z.max 0 (u - lsb x) =? signed x * 2 ^ Z.max 0 (lsb x - u))) us =
               existsb (fun x => negb (cut RZ u x * 2 ^ Z.max 0 (u - lsb x) =? signed x * 2 ^ Z.max 0 (lsb x - u))) ts).
  { generalize u as v. intros v. clear -H. induction H as [|x y ts us [E1 [E2 E3]] H IH]; cbn [existsb]; auto. rewrite IH. f_equal. f_equal. unfold cut, lsb. rewrite E1, E2, E3, round_div_opp by reflexivity.
    rewrite !Z.mul_opp_l. set (a := _ * _). set (b := _ * _). destruct (Z.eqb_spec a b), (Z.eqb_spec (- a) (- b)); auto; lia. }
  rewrite Lo, La. set (lost := existsb _ ts). set (n := held d (zsum ns)).
  assert (Hn : (match carry_bits d, fraction_bits d, largest d ts with Some k, Some f, Some _ => n =? - 2 ^ (f + 1 + k) | _, _, _ => false end = true /\ held d (- zsum ns) = n) \/
               (match carry_bits d, fraction_bits d, largest d ts with Some k, Some f, Some _ => n =? - 2 ^ (f + 1 + k) | _, _, _ => false end = false /\ held d (- zsum ns) = - n /\
                match carry_bits d, fraction_bits d, largest d ts with Some k, Some f, Some _ => - n =? - 2 ^ (f + 1 + k) | _, _, _ => false end = false)).
  { unfold n, held. destruct (carry_bits d) as [k|]; [|right; auto]. destruct (fraction_bits d) as [f|] eqn:F; [|right; auto]. apply Z.leb_le in K.
    rewrite wrap_opp by lia. replace (1 + (f + 1 + k) - 1) with (f + 1 + k) by lia.
    pose proof (wrap_range (1 + (f + 1 + k)) (zsum ns) ltac:(lia)) as B. replace (1 + (f + 1 + k) - 1) with (f + 1 + k) in B by lia.
    destruct (largest d ts) eqn:L.
    - destruct (Z.eqb_spec (wrap (1 + (f + 1 + k)) (zsum ns)) (- 2 ^ (f + 1 + k))) as [E|E]; [left; auto|right]. split; auto. split; auto. apply Z.eqb_neq. lia.
    - right. assert (Z0 : zsum ns = 0) by (unfold ns; rewrite zeros_count; [apply zsum_zeros|]; apply forallb_forall; intros x; now apply (largest_none d ts)).
      rewrite Z0, wrap_0 by lia. destruct (0 =? - 2 ^ (f + 1 + k)); auto. }
  destruct Hn as [[L N]|[L [N L']]]; rewrite N.
  - rewrite L. apply num_mirrored; cbn; auto; lia.
  - rewrite L, L'. replace (- n =? 0) with (n =? 0) by (destruct (Z.eqb_spec n 0), (Z.eqb_spec (- n) 0); auto; lia).
    destruct (lost && negb (n =? 0)).
    + pose proof (deciding_some (rho (out d))) as DB. set (low := p (out d) + 1 + deciding_bits (rho (out d))) in *.
      rewrite Z.sgn_opp. replace (- n * 2 ^ low + - Z.sgn n) with (- (n * 2 ^ low + Z.sgn n)) by lia.
      split; [now apply convert_opp|split; now apply convert_whole].
    + split; [now apply convert_opp|split; now apply convert_whole].
Qed.

(** * Orders of summation *)

Lemma chain_results_mirrored s l ps qs : mirrors s = true -> mirrors l = true -> Forall2 mirrored ps qs ->
  forall c c', mirrored c c' -> Forall2 mirrored (chain_results s l c ps) (chain_results s l c' qs).
Proof.
  intros Ms Ml H. induction H as [|v w ps qs Hv H IH]; intros c c' Hc; cbn; [constructor|].
  destruct H as [|v' w' ps qs Hv' H].
  - constructor; [apply add_mirrored; auto|constructor].
  - constructor; [apply add_mirrored; auto|]. apply IH. apply add_mirrored; auto.
Qed.

Lemma chain_of_mirrored s ps qs : mirrors s = true -> Forall2 mirrored ps qs ->
  forall c c', mirrored c c' -> mirrored (chain_of s c ps) (chain_of s c' qs).
Proof.
  intros M H. unfold chain_of. induction H as [|v w ps qs Hv H IH]; intros c c' Hc; cbn; auto. apply IH. apply add_mirrored; auto.
Qed.

Lemma zero_mirrored s : mirrored (zero_of (stage_rounding s)) (zero_of (stage_rounding s)).
Proof. unfold zero_of. destruct (stage_rounding s); apply num_mirrored; cbn; auto; lia. Qed.

Lemma every_second_2 {A} (R : A -> A -> Prop) l m : Forall2 R l m -> Forall2 R (every_second l) (every_second m).
Proof.
  assert (G : forall n l m, (length l <= n)%nat -> Forall2 R l m -> Forall2 R (every_second l) (every_second m)).
  { induction n as [|n IH]; intros x y L H; destruct H as [|a b x y Ha H]; cbn; auto; cbn in L; [lia|].
    destruct H as [|a' b' x y Ha' H]; cbn; auto. constructor; auto. apply IH; auto. cbn in L. lia. }
  intros H. eapply G; eauto.
Qed.

Lemma tl_2 {A} (R : A -> A -> Prop) l m : Forall2 R l m -> Forall2 R (tl l) (tl m).
Proof. intros H. destruct H; cbn; auto. Qed.

Lemma pairs_mirrored s l m : mirrors s = true -> Forall2 mirrored l m -> Forall2 mirrored (add_pairs s l) (add_pairs s m).
Proof.
  intros M. assert (G : forall n l m, (length l <= n)%nat -> Forall2 mirrored l m -> Forall2 mirrored (add_pairs s l) (add_pairs s m)).
  { induction n as [|n IH]; intros x y L H; destruct H as [|a b x y Ha H]; cbn; auto; cbn in L; [lia|].
    destruct H as [|a' b' x y Ha' H]; cbn; auto. constructor; [apply add_mirrored; auto|]. apply IH; auto. cbn in L. lia. }
  intros H. eapply G; eauto.
Qed.

Lemma pairwise_mirrored s n : mirrors s = true -> forall l m, Forall2 mirrored l m -> mirrored (pairwise n s l) (pairwise n s m).
Proof.
  intros M. induction n as [|n IH]; intros l m H.
  - destruct H as [|a b l m Ha H]; [apply add_mirrored; auto|]. destruct H as [|a' b' l m Ha' H]; auto.
    apply (add_mirrored s (a :: a' :: l) (b :: b' :: m)); auto.
  - destruct H as [|a b l m Ha H]; [apply IH; constructor|]. destruct H as [|a' b' l m Ha' H]; auto.
    apply (IH (add_pairs s (a :: a' :: l)) (add_pairs s (b :: b' :: m))). apply pairs_mirrored; auto.
Qed.

Lemma two_chains_mirrored s l m : mirrors s = true -> Forall2 mirrored l m -> mirrored (two_chains s l) (two_chains s m).
Proof.
  intros M H. unfold two_chains. apply add_mirrored; auto.
  constructor; [|constructor; [|constructor]]; apply chain_of_mirrored; auto using zero_mirrored; unfold evens, odds;
    apply every_second_2; auto using tl_2.
Qed.

Lemma inner_mirrored how e s l m : mirrors s = true -> Forall2 mirrored l m ->
  mirrored (inner_sum how s e l) (inner_sum how s e m).
Proof.
  intros M H. destruct how; cbn [inner_sum].
  - now apply from_mirrored.
  - destruct H; [apply zero_mirrored|]. now apply chain_of_mirrored.
  - rewrite (Forall2_length _ _ _ H). now apply pairwise_mirrored.
  - now apply two_chains_mirrored.
  - apply two_chains_mirrored; auto. now apply pairs_mirrored.
Qed.

Fixpoint steps_ind' (P : steps -> Prop) (Hk : forall k, P (Product k)) (Hc : P C) (Hz : P PlusZero)
    (Hs : forall s l, Forall P l -> P (Step s l)) (t : steps) : P t :=
  match t with
  | Product k => Hk k
  | C => Hc
  | PlusZero => Hz
  | Step s l => Hs s l ((fix go l : Forall P l := match l with
      | [] => Forall_nil P | x :: r => Forall_cons x (steps_ind' P Hk Hc Hz Hs x) (go r) end) l)
  end.

Fixpoint steps_mirror (t : steps) : bool :=
  match t with Step s l => mirrors s && forallb steps_mirror l | _ => true end.

Lemma nan_mirrored : mirrored NaN NaN.
Proof. split; [exact I|split; intros ? ?; easy]. Qed.

Lemma steps_mirrored r ps qs c c' t : steps_mirror t = true -> Forall2 mirrored ps qs -> mirrored c c' ->
  mirrored (eval_steps r ps c t) (eval_steps r qs c' t).
Proof.
  intros M H Hc. revert M. induction t as [k| | |s l IH] using steps_ind'; intros M; cbn [eval_steps]; auto using nan_mirrored.
  - clear M. revert k. induction H as [|v w ps qs Hv H IHp]; intros [|k]; cbn [nth]; auto using nan_mirrored.
  - cbn [steps_mirror] in M. apply andb_prop in M. destruct M as [Ms Ml]. apply add_mirrored; auto.
    induction IH as [|x l Hx IH IHl]; cbn [map]; [constructor|]. cbn [forallb] in Ml. apply andb_prop in Ml. destruct Ml as [M1 M2].
    constructor; [|now apply IHl]. specialize (Hx M1).
    destruct x; auto using zero_mirrored. apply flush_mirrored; auto.
Qed.

(** Summations that are symmetric. *)
Definition mirrors_sum (how : summation) : bool :=
  match how with
  | OneSum s => mirrors s
  | StickySum d => sticky_mirrors d
  | FromC s l | CLast _ s l => mirrors s && mirrors l
  | InSteps t => steps_mirror t
  | CAfter d false => mirrors (Stage d)
  | _ => false
  end.

Lemma last_2 {A} (R : A -> A -> Prop) l m : Forall2 R l m -> forall x y, R x y -> R (last l x) (last m y).
Proof.
  induction 1 as [|a b l m Ha H IH]; intros x y Hx; auto. cbn. destruct H; auto.
Qed.

Lemma block_mirrored how r e fs fs' ps qs c c' : mirrors_sum how = true -> Forall2 mirrored ps qs -> mirrored c c' ->
  mirrored (block_sum how r e fs ps c) (block_sum how r e fs' qs c').
Proof.
  intros M H Hc. destruct how as [s|s| | | |s halves|s l|how s l|t]; cbn [mirrors_sum] in M; try easy; cbn [block_sum].
  - apply from_mirrored; auto. apply Forall2_app; auto.
  - unfold on_numbers. assert (G : Forall2 mirrored (ps ++ [c]) (qs ++ [c'])) by (apply Forall2_app; auto).
    pose proof (mirrored_opposite _ _ G) as Ho. pose proof (opposite_numbers _ _ Ho) as N.
    destruct (numbers (ps ++ [c])) as [ts|] eqn:E, (numbers (qs ++ [c'])) as [us|] eqn:E'; try easy; [now apply sticky_mirrored|].
    split; [now apply opposite_special|split; apply special_whole].
  - destruct halves; [easy|]. cbn [mirrors] in M. apply andb_prop in M. destruct M as [M P]. apply Z.leb_le in P.
    now apply (after_mirrored s r fs fs' e e ps qs c c').
  - apply andb_prop in M. destruct M. apply last_2; auto. now apply chain_results_mirrored.
  - apply andb_prop in M. destruct M. apply add_mirrored; auto. constructor; auto. now apply inner_mirrored.
  - now apply steps_mirrored.
Qed.

(** * Designs *)

Definition negation_kept (d : design) : bool :=
  let q := factors d in
  mirrors_sum (sums d) && keeps_sign (zero_terms q) (c_rule d) && keeps_sign (zero_terms q) (of_a q) &&
  rounds_mirrored (product_rounding q) && (exponent_step q =? 1) && negb (skips d) &&
  match cutting_of d with Pieces size _ => 0 <? size | _ => true end &&
  match converted d, composed d with None, None => true | _, _ => false end &&
  format_ok (a_format d) && format_ok (b_format d) && format_ok (c_format d) &&
  match scales d with Some (f, _) => format_ok f | None => true end.

(** Negated values, signs of zeros too where these count as ones. *)
Definition negated_words (d : design) (v w : val) : Prop := mirrored v w /\ strictly (zero_terms (factors d)) v w.

(** The words of A and of c stand for the negated values, those of B and of scales are the same. *)
Definition negated_element (d : design) (x y : element) : Prop :=
  negated_words d (decode (a_format d) (a_word x)) (decode (a_format d) (a_word y)) /\ b_word y = b_word x /\ scaled_by y = scaled_by x /\ index y = index x.

Lemma swapped_2 {A B} (R : A -> B -> Prop) : forall n l m, (length l <= n)%nat -> Forall2 R l m -> Forall2 R (swapped l) (swapped m).
Proof.
  induction n as [|n IH]; intros l m L H; destruct H as [|x y l m Hx H]; cbn; auto; cbn [length] in L; [lia|].
  destruct H as [|x' y' l m Hx' H]; auto. cbn [length] in L. constructor; auto. constructor; auto. apply IH; auto. lia.
Qed.

Lemma ordered_2 d R l m : Forall2 R l m -> Forall2 R (ordered d l) (ordered d m).
Proof. intros H. unfold ordered. destruct (odd_first d); auto. eapply swapped_2; eauto. Qed.

Lemma ordered_all d (P : element -> Prop) l : Forall P l -> Forall P (ordered d l).
Proof.
  intros H. unfold ordered. destruct (odd_first d); auto. apply Forall_forall. intros x Hx. rewrite Forall_forall in H. apply H.
  now apply swapped_incl.
Qed.

Lemma element_mirrored d x y : negation_kept d = true -> negated_element d x y -> made_by d x ->
  negated_words d (a_of d x) (a_of d y) /\ b_of d y = b_of d x /\ whole_sig (b_of d x) /\ Forall whole_sig (scaled_by x).
Proof.
  intros O [Ha [Eb [Es Ei]]] M. unfold negation_kept in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[Mi Kc] Ka] R] St] Sk] Cu] X] Oa] Ob] Oc] Os]. destruct (converted d) eqn:Cv; [easy|].
  split; [|split; [|split]].
  - destruct Ha as [Ha Hs]. unfold a_of, operand. rewrite Cv, St. split; [now apply factor_mirrored|now apply factor_strictly].
  - unfold b_of. now rewrite Eb.
  - unfold b_of, operand. rewrite Cv, St. apply factor_whole; auto using decode_whole.
  - unfold made_by in M. destruct (scales d) as [[f n]|].
    + destruct M as [a0 [b0 ->]]. repeat constructor; now apply decode_whole.
    + rewrite M. constructor.
Qed.

Lemma one_mirrored d x y ss : negation_kept d = true -> negated_element d x y -> made_by d x -> Forall whole_sig ss ->
  mirrored (scaled_product (factors d) (a_of d x) (b_of d x) (index x) ss) (scaled_product (factors d) (a_of d y) (b_of d y) (index y) ss).
Proof.
  intros O N M W. destruct (element_mirrored d x y O N M) as [A [B [C _]]]. destruct N as [_ [_ [_ Ei]]]. rewrite B, Ei.
  unfold negation_kept in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[[[Mi Kc] Ka] R] St] Sk] Cu] X] Oa] Ob] Oc] Os].
  destruct A. now apply scaled_mirrored.
Qed.

Lemma cut_list_2 {A B} (R : A -> B -> Prop) n : forall k l m, Forall2 R l m -> Forall2 (Forall2 R) (cut_list k n l) (cut_list k n m).
Proof.
  assert (G : forall n (a : list A) (b : list B), Forall2 R a b -> Forall2 R (firstn n a) (firstn n b) /\ Forall2 R (skipn n a) (skipn n b)).
  { induction n0 as [|n0 IHn]; intros a b F; [split; [constructor|auto]|]. destruct F as [|a0 b0 a b Fa F]; cbn; [split; constructor|].
    destruct (IHn _ _ F). split; auto. }
  induction k as [|k IH]; intros l m H; cbn; [constructor|]. destruct H as [|x y l m Hx H]; [constructor|].
  destruct (G n (x :: l) (y :: m)) as [G1 G2]; auto.
Qed.

Lemma terms_mirrored d b b' : negation_kept d = true -> Forall2 (negated_element d) b b' -> Forall (made_by d) b ->
  Forall2 mirrored (fst (terms d b)) (fst (terms d b')) /\ snd (terms d b') = snd (terms d b).
Proof.
  intros O H M. unfold terms. destruct (cutting_of d) as [|size n|size] eqn:Cu; cbn [fst snd].
  - split; auto. induction H as [|x y l m Hx H IH]; cbn [map]; [constructor|]. inversion M; subst. constructor; auto.
    destruct (element_mirrored d x y O Hx ltac:(auto)) as [_ [_ [_ W]]]. pose proof Hx as Hx'. destruct Hx' as [_ [_ [Es _]]]. rewrite Es. now apply one_mirrored.
  - split; auto. induction H as [|x y l m Hx H IH]; cbn [flat_map]; [constructor|]. inversion M; subst. apply Forall2_app; auto.
    destruct (element_mirrored d x y O Hx ltac:(auto)) as [[Ha _] [Eb [_ W]]]. pose proof Hx as Hx'. destruct Hx' as [_ [_ [Es _]]].
    pose proof (one_mirrored d x y (scaled_by x) O Hx ltac:(auto) W) as P. rewrite Es. unfold negation_kept in O. repeat rewrite andb_true_iff in O. rewrite Cu in O.
    assert (Ps : 0 < size) by (destruct O as [[[[[[_ Q] _] _] _] _] _]; now apply Z.ltb_lt).
    destruct (scaled_product _ (a_of d x) _ _ _) as [u| |], (scaled_product _ (a_of d y) _ _ _) as [v| |]; try (now destruct P); try (constructor; [exact P|constructor]).
    rewrite Eb. apply pieces_mirrored; auto.
    + destruct (a_of d x) as [a0| |], (a_of d y) as [b0| |]; try (now destruct Ha); auto. now destruct (mirrored_num _ _ Ha).
    + destruct (a_of d x) as [a0| |], (a_of d y) as [b0| |]; try (now destruct Ha); auto. now destruct (mirrored_num _ _ Ha) as [_ [_ [_ [? _]]]].
  - assert (L : length b' = length b) by (symmetry; apply (Forall2_length _ _ _ H)). rewrite L.
    pose proof (cut_list_2 (negated_element d) size (length b) b b' H) as G. pose proof (cut_list_Forall (made_by d) size (length b) b M) as F.
    set (m := match sums d with OneSum s | CLast _ s _ => _ | _ => RNE end). rewrite !map_map. clear H M L.
    assert (Q : forall g h, Forall2 (negated_element d) g h -> Forall (made_by d) g ->
      let t (k : list element) := group_term m (map (fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) []) k) (match k with x :: _ => scaled_by x | [] => [] end) in
      mirrored (fst (t g)) (fst (t h)) /\ snd (t h) = snd (t g)).
    { intros g h Hg Fg. intros t. assert (S : match h with x :: _ => scaled_by x | [] => [] end = match g with x :: _ => scaled_by x | [] => [] end).
      { destruct Hg as [|x y g h Hx Hg]; auto. now destruct Hx as [_ [_ [? _]]]. }
      unfold t. rewrite S. apply group_mirrored.
      - clear S. induction Hg as [|x y g h Hx Hg IH]; cbn [map]; [constructor|]. inversion Fg; subst. constructor; auto. apply one_mirrored; auto.
      - destruct Hg as [|x y g h Hx Hg]; [constructor|]. inversion Fg; subst. now destruct (element_mirrored d x y O Hx ltac:(auto)) as [_ [_ [_ W]]]. }
    split.
    + induction G as [|g h gs hs Hg G IH]; cbn [map]; [constructor|]. inversion F; subst. constructor; auto. now apply Q.
    + f_equal. induction G as [|g h gs hs Hg G IH]; cbn [map]; auto. inversion F; subst. rewrite IH by auto. f_equal. now apply Q.
Qed.

Lemma taken_mirrored d v v' : negation_kept d = true -> negated_words d v v' -> mirrored (taken_c d v) (taken_c d v').
Proof.
  intros O [M S]. unfold negation_kept in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[[[_ Kc] _] _] _] _] _] _] _] _] _] _].
  unfold taken_c. pose proof (flush_mirrored (c_rule d) _ _ M) as F. pose proof (flush_strictly _ _ _ _ Kc S) as G. cbv zeta.
  destruct (zero_terms (factors d)) as [e|]; [|now rewrite !zero_as_none]. cbn [strictly] in G. rewrite G in *. pose proof F as F'. destruct F' as [_ [W _]].
  destruct (flush (c_rule d) v) as [x| |]; auto. apply zero_mirrored_as; auto. left. cbn [negate num_of].
  destruct (as_one_opposite x {| neg := negb (neg x); sig := sig x; exp := exp x; frac := frac x |}) as [A [B C]]; auto. rewrite A, B, C.
  repeat split; auto. apply as_one_whole. now apply W.
Qed.

Lemma block_negated d b b' v v' : negation_kept d = true -> Forall2 (negated_element d) b b' -> Forall (made_by d) b -> negated_words d v v' ->
  mirrored (block_value d v b) (block_value d v' b').
Proof.
  intros O Hb Fb Hv. destruct (terms_mirrored d (ordered d b) (ordered d b') O (ordered_2 d _ _ _ Hb) (ordered_all d _ _ Fb)) as [T E].
  pose proof (taken_mirrored d v v' O Hv) as C. unfold negation_kept in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[M Kc] Ka] R] St] Sk] Cu] X] Oa] Ob] Oc] Os]. apply negb_true_iff in Sk.
  unfold block_value, skipped. rewrite Sk. cbn [andb]. rewrite E. now apply block_mirrored.
Qed.

(** Negated products and a negated c give the negated result, in every order of summation; where zeros count as ones, of one block. *)
Theorem negation_holds d w w' : negation_kept d = true -> zero_terms (factors d) = None \/ (length (elements d w) <= block d)%nat ->
  Forall2 (negated_element d) (elements d w) (elements d w') ->
  negated_words d (decode (c_format d) (c_word w)) (decode (c_format d) (c_word w')) ->
  mirrored (value d w) (value d w').
Proof.
  intros O One H Hc. assert (Co : composed d = None).
  { unfold negation_kept in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[_ X] _] _] _] _]. destruct (converted d), (composed d); easy. }
  unfold value. rewrite Co. unfold values. pose proof (elements_made d w) as Mm. rewrite <- (Forall2_length _ _ _ H).
  destruct (zero_terms (factors d)) as [e|] eqn:Zt.
  - destruct One as [One|One]; [easy|]. destruct H as [|x y l m Hx H]; [apply Hc|]. pose proof (Forall2_length _ _ _ H) as L.
    assert (Cut : forall (z : element) r, length (z :: r) = length (x :: l) -> cut_list (length (x :: l)) (block d) (z :: r) = [z :: r]).
    { intros z r Lr. cbn [length] in *. change (cut_list (S (length l)) (block d) (z :: r)) with (firstn (block d) (z :: r) :: cut_list (length l) (block d) (skipn (block d) (z :: r))).
      rewrite firstn_all2, skipn_all2 by (cbn [length]; lia). destruct (length l); reflexivity. }
    rewrite !Cut by (cbn [length]; congruence). cbn [fold_left]. apply block_negated; auto.
  - pose proof (cut_list_2 (negated_element d) (block d) (length (elements d w)) _ _ H) as B.
    pose proof (cut_list_Forall (made_by d) (block d) (length (elements d w)) _ Mm) as Fb.
    revert Fb Hc. generalize (decode (c_format d) (c_word w)) as v, (decode (c_format d) (c_word w')) as v'.
    clear H One Mm. induction B as [|b b' r r' Hb B IH]; intros v v' Fb Hv; [apply Hv|]. inversion Fb as [|? ? Fb1 Fb2]; subst.
    cbn [fold_left]. apply IH; auto. split; [now apply block_negated|]. now rewrite Zt.
Qed.
