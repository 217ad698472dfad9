(** Sums that round down in a circuit: truncated sums of products, all or even and odd ones apart, and c, each rounded
    down at the largest exponent; their sum is rounded down once more, and then as the design says. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage Products After.
Import ListNotations.
Open Scope Z_scope.

(** * The plan *)

(** An exponent: its node, which counts from [e_low] on to [e_span]. *)
Record level := Level { e_node : positive; e_low : Z; e_span : Z }.

(** What is shifted to an exponent: the shift, and what is kept, in two's complement or, of c, its magnitude. *)
Record floored := Floored { distance : positive; kept_node : positive }.

(** A sum of counts: its node in two's complement, its largest magnitude, its exponent, and what is known of that. *)
Record part := Part { p_node : positive; p_bound : Z; p_top : term; p_known : list formula }.

Record down_plan := DownPlan {
  first_front : front;
  sides : option (front * floored * floored * level * positive);   (** the odd products' sum, both rounded down, their exponent and sum *)
  products_floored : floored;
  added : number; c_floored : floored; c_largest : Z; c_span : Z;
  last_level : level; last_total : positive;
  floor_emax : Z; floor_ending : ending; floor_span : Z; down_ending : ending
}.

Section Claims.
(** [ns]: the products. *)
Variables (m : widths) (r : round_down) (ns : list number) (q : down_plan).
Let d := products_sum r.
Let o := out d.
Let f := down_bits r.
Let l := last_level q.
Let c := added q.

Definition level_term (l : level) : term := Plus (U (e_node l)) (Num_ (e_low l)).
Definition level_known (l : level) : list formula := [AtMost (U (e_node l)) (Num_ (e_span l))].
Definition c_known : list formula := [AtMost (U (code c)) (Num_ (c_span q))].

Definition larger_claims (g : list formula) (a b : term) (l : level) : list claim :=
  map (Claim g) (Equal (level_term l) (If (Less a b) b a) :: level_known l).

Definition floor_claims (x : part) (up : Z) (l : level) (y : floored) : list claim :=
  let z := Low (U (distance y)) (Num_ (width_in m (p_node x) + up)) in
  let scaled := Times (Sg (p_node x)) (Num_ (2 ^ up)) in
  let k := Sg (kept_node y) in
  [Claim (AtMost (p_top x) (level_term l) :: p_known x ++ level_known l) (Equal (U (distance y)) (Minus (level_term l) (p_top x)));
   Claim [] (Both (AtMost (Shift k z) scaled) (Less scaled (Shift (Plus k (Num_ 1)) z)))].

Definition front_part (x : front) : part :=
  Part (total_node x) (tree_bound x (partials x)) (top_term x) [AtMost (U (top x)) (Num_ (top_span x))].
Definition products_part : part :=
  let a := front_part (first_front q) in
  match sides q with
  | None => a
  | Some (b, _, _, l, n) => Part n (p_bound a + p_bound (front_part b)) (level_term l) (level_known l)
  end.
Definition side_claims : list claim :=
  match sides q with
  | None => []
  | Some (x, y, z, l, n) =>
      let a := front_part (first_front q) in
      let b := front_part x in
      front_claims m (fun _ => []) d f x ++ larger_claims (p_known a ++ p_known b) (p_top a) (p_top b) l ++
      floor_claims a 0 l y ++ floor_claims b 0 l z ++
      [Claim [within (p_bound a) (Sg (kept_node y)); within (p_bound b) (Sg (kept_node z))] (Equal (Sg n) (Plus (Sg (kept_node y)) (Sg (kept_node z))))]
  end.

(** More bits than those of products that are kept of their sum. *)
Definition more : Z := sum_bits r + 1 - f.

Definition c_term : term := signed_term (sign c) (U (kept_node (c_floored q))).
Definition c_claims : list claim :=
  let y := c_floored q in
  let far := Less (Num_ (f + 1)) (U (distance y)) in
  [Claim [finite c] (AtMost (U (code c)) (Num_ (c_span q)));
   Claim (AtMost (exponent c) (level_term l) :: c_known ++ level_known l) (Equal (U (distance y)) (Minus (level_term l) (exponent c)));
   Claim (if two_sums r then [Negation far] else []) (floor_formula m f c (distance y) (kept_node y));
   Claim [] (AtMost (U (kept_node y)) (Num_ (c_largest q)))] ++
  if two_sums r then [Claim [far] (Equal (U (kept_node y)) (Num_ 0))] else [].

(** What is rounded down once more. *)
Definition last_term : term := Sg (last_total q).
Definition last_bound : Z := (p_bound products_part + c_largest q) * 2 ^ more.
Definition floor_sum : to_round :=
  ToRound (ns ++ [c]) (Abs last_term) (Equal last_term (Num_ 0)) (Less last_term (Num_ 0)) (Plus (U (e_node l)) (Num_ (e_low l - (f + more))))
    last_bound (within last_bound last_term :: level_known l) (Less last_term (Num_ 0)).
Definition floor_conversion : conversion :=
  {| rho := RD; p := sum_bits r; emin := emin o; emax := floor_emax q; overflow := overflow o; flushes := false; tiny := false; zsign := SumSign |}.

(** The last rounding keeps the sign of a number, and a zero that it is given has none. *)
Definition signed_zeros (e : conversion) : conversion :=
  {| rho := rho e; p := p e; emin := emin e; emax := emax e; overflow := overflow e; flushes := flushes e; tiny := tiny e; zsign := IeeeSign |}.

Definition down_claims : list claim :=
  let x := products_part in
  let k := kept_node (products_floored q) in
  front_claims m (fun _ => []) d f (first_front q) ++ side_claims ++
  larger_claims (p_known x ++ c_known) (p_top x) (exponent c) l ++ floor_claims x more l (products_floored q) ++ c_claims ++
  [Claim [within (p_bound x * 2 ^ more) (Sg k); AtMost (U (kept_node (c_floored q))) (Num_ (c_largest q))] (Equal last_term (Plus (Sg k) (Times c_term (Num_ (2 ^ more)))));
   Claim (Negation (no_size floor_sum) :: known floor_sum) (AtMost (Plus (U (height (floor_ending q))) (Num_ 1)) (Num_ (floor_emax q - emin o)))] ++
  kept_claims floor_conversion (floor_ending q) floor_sum ++ outcome_claims floor_conversion (floor_ending q) floor_sum ++
  rounding_claims m (signed_zeros o) (outcome (floor_ending q)) (floor_span q) (down_ending q).

(** What is computed beside the claims. *)
Definition down_ok : bool :=
  match sum_mode r, zero_exponent d, zsign o with RD, ZeroNone, SumSign => true | _, _, _ => false end && cut_again r && (f <=? sum_bits r + 1) &&
  front_ok m d f (first_front q) && ending_ok m floor_conversion (floor_ending q) && rounding_ok m (signed_zeros o) (outcome (floor_ending q)) (down_ending q) &&
  forallb (in_circuit m) (p_node products_part :: significand c :: code c :: distance (c_floored q) :: kept_node (c_floored q) :: distance (products_floored q) :: front_nodes (first_front q) ++ ending_nodes (floor_ending q)) &&
  (1 <=? width_in m (p_node products_part)) && (tops_low (first_front q) <=? low c) && (0 <=? c_largest q) &&
  match sides q with
  | None => negb (two_sums r) && numbers_eqb (numbers_of (first_front q)) ns
  | Some (x, y, z, l, n) =>
      two_sums r && (1 <? Z.of_nat (length ns)) && numbers_eqb (numbers_of (first_front q)) (evens ns) && numbers_eqb (numbers_of x) (odds ns) && front_ok m d f x &&
      (tops_low x =? tops_low (first_front q)) && (1 <=? width_in m (total_node (first_front q))) && (1 <=? width_in m (total_node x)) &&
      forallb (in_circuit m) (distance y :: distance z :: front_nodes x)
  end.
End Claims.

(** * What it computes *)

Definition down_value (r : round_down) (ps : list val) (v : val) : val := on_numbers (fun _ => round_down_sum r (map num_of ps) (num_of v)) (ps ++ [v]).

Lemma truncated_same r xs ys : normalise (products_sum r) = false -> (exists f, fraction_bits (products_sum r) = Some f) -> Forall2 same xs ys ->
  truncated r xs = truncated r ys.
Proof.
  intros N Fb F. destruct (same_parts _ _ _ N Fb F) as [U [C S]]. unfold truncated, total. rewrite U, C. f_equal; [|apply S].
  unfold largest. f_equal. clear U C S. induction F as [|x y xs ys H F IH]; auto. cbn [map]. rewrite IH. f_equal. unfold term_exponent. rewrite N, (same_zero _ _ H). destruct H as [_ [-> _]]. reflexivity.
Qed.

Lemma add_c_same r x a b : same a b -> add_c r x a = add_c r x b.
Proof.
  intros H. pose proof H as [N [E _]]. unfold add_c. rewrite E. assert (C : forall k, cut (sum_mode r) k a = cut (sum_mode r) k b) by (intros; now apply same_cut).
  assert (S : forall mm n y ns, sign_of mm n [y; a] ns = sign_of mm n [y; b] ns) by (intros; unfold sign_of; cbn [forallb existsb]; now rewrite N). now rewrite C, S.
Qed.

Lemma every_second_forall2 {A B} (R : A -> B -> Prop) xs : forall ys, Forall2 R xs ys -> Forall2 R (every_second xs) (every_second ys).
Proof.
  assert (G : forall n (l : list A) k, (length l <= n)%nat -> Forall2 R l k -> Forall2 R (every_second l) (every_second k)).
  { induction n as [|n IH]; intros l k L F; [destruct l; [|simpl in L; lia]; inversion F; constructor|].
    destruct F as [|a b l k H F]; [constructor|]. destruct F as [|a' b' l k H' F]; [now repeat constructor|]. cbn [every_second]. constructor; auto. apply IH; auto. simpl in L. lia. }
  intros ys. now apply (G (length xs)).
Qed.

Lemma down_same r ps qs v w : normalise (products_sum r) = false -> (exists f, fraction_bits (products_sum r) = Some f) -> Forall2 same_val ps qs -> same_val v w ->
  down_value r ps v = down_value r qs w.
Proof.
  intros N Fb F H. assert (FC : Forall2 same_val (ps ++ [v]) (qs ++ [w])) by (apply Forall2_app; auto).
  unfold down_value, on_numbers. unfold numbers. rewrite (numbers_some _ _ FC). destruct (forallb is_num (qs ++ [w])) eqn:Q; [|now apply special_same].
  rewrite forallb_app in Q. apply andb_prop in Q. destruct Q as [Q1 Q2]. cbn [forallb] in Q2. rewrite andb_true_r in Q2.
  assert (SP : Forall2 same (map num_of ps) (map num_of qs)). { destruct (num_of_same ps qs F) as [X|X]; auto. unfold numbers in X. now rewrite (numbers_some _ _ F), Q1 in X. }
  assert (SC : same (num_of v) (num_of w)) by (destruct v, w; easy).
  assert (LE : length (map num_of ps) = length (map num_of qs)) by (clear -SP; induction SP; simpl; auto).
  assert (TL : Forall2 same (tl (map num_of ps)) (tl (map num_of qs))) by (destruct SP; [constructor|auto]).
  unfold round_down_sum. rewrite LE, (add_c_same r _ _ _ SC). f_equal. destruct (two_sums r && _); [|now apply truncated_same].
  unfold evens, odds. f_equal; apply truncated_same; auto; now apply every_second_forall2.
Qed.

(** * The claims are enough *)

Lemma unsigned_zero k s u w : zsign k = SumSign -> convert k s 0 u = convert (signed_zeros k) false 0 w.
Proof. intros Z0. rewrite (convert_zero (signed_zeros k) false w u). unfold convert. rewrite !round_div_0. cbn [Z.eqb orb negb]. now rewrite Z0. Qed.

Lemma signed_same k s n u : zsign k = SumSign -> n <> 0 -> convert k s n u = convert (signed_zeros k) s n u.
Proof. intros Z0 N. unfold convert. rewrite Z0. destruct (Z.eqb_spec n 0); easy. Qed.

(** A sum that is rounded down before it is converted. *)
Lemma floor_then k e s n u h kk aw : 0 <= p k -> emin k <= emax k -> rho k = RD -> flushes k = false -> zsign k = SumSign -> emin k = emin e ->
  zsign e = SumSign -> kept_facts k n u kk h aw -> (n <> 0 -> h + 1 <= emax k - emin k) -> (n <> 0 -> s = (n <? 0)) ->
  let u3 := Z.max (Z.log2 (Z.abs n) + u) (emin e) - p k in
  convert e s (round_div RD n (u3 - u)) u3 = rounded_value (signed_zeros e) (convert k (n <? 0) n u).
Proof.
  intros P M RH FL ZS EM ZE KF OV SG u3. pose proof (convert_result k (n <? 0) n u kk h aw P M KF) as CR.
  assert (RS : forall y, same_val (convert k (n <? 0) n u) (Num y) -> rounded_value (signed_zeros e) (convert k (n <? 0) n u) = convert (signed_zeros e) (neg y) (signed y) (lsb y)).
  { intros y Y. destruct (convert k (n <? 0) n u) as [z| |]; try easy. cbn [rounded_value]. rewrite (round_num_same (signed_zeros e) z y Y). reflexivity. }
  unfold result, rounded_zero in CR. rewrite FL in CR. cbn [andb] in CR. rewrite orb_false_r in CR.
  destruct (Z.eqb_spec (kk + Z.b2z aw) 0) as [Q|Q].
  - assert (NG : (n <? 0) = false).
    { destruct (Z.ltb_spec n 0) as [L|]; [exfalso|reflexivity]. assert (K0 : kk = 0 /\ aw = false) by (pose proof (k_range _ _ _ _ _ _ KF); destruct aw; cbn [Z.b2z] in Q; split; auto; lia). destruct K0 as [-> ->].
      destruct (Z.le_gt_cases (h + emin k - p k) u) as [G|G].
      - destruct (k_exact _ _ _ _ _ _ KF ltac:(lia) G) as [E _]. pose proof (pow2_pos (u - (h + emin k - p k)) ltac:(lia)). nia.
      - destruct (k_cut _ _ _ _ _ _ KF ltac:(lia) G) as [_ E]. unfold away_rule in E. rewrite RH in E. destruct (Z.ltb_spec n 0); [|lia]. destruct (Z.eqb_spec (Z.abs n - 0 * 2 ^ (h + emin k - p k - u)) 0); [lia|easy]. }
    rewrite (RS _ CR). rewrite NG, andb_false_r. cbn [neg signed sig]. change (signed _) with 0.
    assert (R0 : round_div RD n (u3 - u) = 0).
    { destruct (Z.eq_dec n 0) as [->|N]; [apply round_div_0|]. pose proof (kept_rounded k n u kk h aw P KF N) as R. rewrite RH in R. pose proof (kept_last_bit k n u kk h aw P KF N) as LB.
      unfold last_bit in LB. destruct (Z.eqb_spec n 0); [easy|]. unfold u3. rewrite <- EM, LB. rewrite R, Q. now destruct (n <? 0). }
    rewrite R0. now apply unsigned_zero.
  - destruct (Z.eq_dec n 0) as [->|N]. { destruct (k_zero _ _ _ _ _ _ KF eq_refl) as [-> ->]. easy. }
    pose proof (kept_rounded k n u kk h aw P KF N) as R. rewrite RH in R. pose proof (kept_last_bit k n u kk h aw P KF N) as LB. unfold last_bit in LB. destruct (Z.eqb_spec n 0); [easy|].
    assert (OF : overflows k kk h aw = false). { unfold overflows. specialize (OV N). destruct (Z.ltb_spec (emax k - emin k) (h + Z.b2z (carries k kk aw))); [|apply andb_false_r]. destruct (carries k kk aw); cbn [Z.b2z] in *; lia. }
    rewrite OF in CR. rewrite (RS _ CR). unfold u3. rewrite <- EM, LB, R. rewrite (SG N). cbn [neg]. rewrite signed_same; auto. 2: { unfold with_sign. destruct (n <? 0); lia. } apply convert_ext; auto.
    unfold signed, lsb; cbn [neg sig exp frac]. unfold carries. destruct (Z.leb_spec (2 ^ (p k + 1)) (kk + Z.b2z aw)) as [G|G]; cbn [Z.b2z].
    + pose proof (k_range _ _ _ _ _ _ KF) as KR. assert (E : kk + Z.b2z aw = 2 * 2 ^ p k) by (rewrite Z.pow_add_r in * by lia; destruct aw; cbn [Z.b2z] in *; lia). rewrite E.
      replace (emin k + h + 1 - p k) with (1 + (h + emin k - p k)) by lia. rewrite Flocq.Core.Raux.bpow_plus. change (bp 1) with 2%R. unfold with_sign. destruct (n <? 0); rewrite ?opp_IZR, ?mult_IZR; ring.
    + replace (emin k + h + 0 - p k) with (h + emin k - p k) by lia. unfold with_sign. reflexivity.
Qed.

(** A sum of counts as the circuit has it; [T] and [W] are what formulas and terms are there. *)
Record part_is (T : formula -> bool) (W : term -> Z) (f base : Z) (x : partial) (y : part) : Prop := {
  pi_count : Design.count x = W (Sg (p_node y)); pi_bound : Z.abs (Design.count x) <= p_bound y; pi_known : forallb T (p_known y) = true;
  pi_base : base <= W (p_top y);
  pi_top : (Design.top x = Some (W (p_top y)) /\ Design.unit x = W (p_top y) - f) \/ (Design.top x = None /\ Design.count x = 0 /\ W (p_top y) = base)
}.

Arguments pi_count {T W f base} x y _. Arguments pi_bound {T W f base} x y _. Arguments pi_known {T W f base} x y _.
Arguments pi_base {T W f base} x y _. Arguments pi_top {T W f base} x y _.

(** A truncated sum; the sign of one that is zero does not matter here. *)
Definition truncated_at (d : sum) (ps : list num) (s : bool) : partial := Build_partial (total d ps) (unit_of d ps) (largest d ps) s.

Section Parts.
Variables (ct : circuit) (d : sum) (f base : Z) (v : env).
Hypothesis SOL : solution ct v.
Local Notation m := (widths_of ct).
Local Notation T := (truth (widths_of ct) v).
Local Notation W := (value (widths_of ct) v).

Lemma front_is x s : front_ok m d f x = true -> zero_exponent d = ZeroNone -> (forall i, In i (front_nodes x) -> fits m v i) -> Forall (holds ct) (front_claims m (fun _ => []) d f x) ->
  Forall (fun y => T (finite y) = true) (numbers_of x) -> tops_low x = base -> part_is T W f base (truncated_at d (map (num_in v) (numbers_of x)) s) (front_part x).
Proof.
  intros FO ZN FI FC FN TB. unfold front_claims in FC. rewrite Forall_app in FC. destruct FC as [FA FS]. assert (CX : forall a, In a (addends x) -> T (finite (of a)) = true -> forallb T ((fun _ => []) (of a)) = true) by reflexivity.
  pose proof (total_is ct _ d f x v FO FA FS SOL FI CX FN) as TI. destruct (n_is ct _ d f x v FO FA FS SOL FI CX FN) as [_ B].
  pose proof (known_is ct _ d f x v FO FA FS SOL FI CX FN) as K. cbn [fused_sum known forallb] in K. apply andb_prop in K. destruct K as [_ K].
  pose proof (top_is_low ct _ d f x v FO FA SOL CX FN) as TL. pose proof (largest_or_none ct _ d f x v FO FA FS SOL FI CX FN) as LN.
  destruct (ok_parts ct d f x FO) as [Fb _].
  assert (TT : W (p_top (front_part x)) = v (top x) + top_low x) by (unfold W; reflexivity).
  constructor; unfold truncated_at; cbn [Design.count Design.top Design.unit front_part p_node p_bound p_known].
  - exact TI.
  - rewrite TI. lia.
  - exact K.
  - rewrite TT, <- TB. exact TL.
  - rewrite TT. unfold unit_of. rewrite Fb. destruct LN as [->|[-> [N E]]]; [left; auto|right]. repeat split; [now rewrite TI|now rewrite <- TB].
Qed.

Lemma floored_is x y up k z u : part_is T W f base x y -> 0 <= up -> 1 <= width_in m (p_node y) -> fits m v (p_node y) -> fits m v (distance z) -> forallb T (level_known k) = true ->
  W (p_top y) <= W (level_term k) -> Forall (holds ct) (floor_claims m y up k z) -> (Design.top x <> None -> u = W (level_term k) - f - up) ->
  round_div RD (Design.count x) (u - Design.unit x) = W (Sg (kept_node z)) /\ Z.abs (W (Sg (kept_node z))) <= p_bound y * 2 ^ up.
Proof.
  intros [C B K BA TP] U WN FN FD LK LE CF UE.
  assert (Q : forall j a, nth_error (floor_claims m y up k z) j = Some a -> forallb T (given a) = true -> T (goal a) = true).
  { intros j a Nt G. rewrite Forall_forall in CF. exact (CF a (nth_error_In _ _ Nt) v SOL G). }
  pose proof (Q 0%nat _ eq_refl) as Q0. cbn [given goal] in Q0. rewrite (forallb1 T), forallb_app, K, LK in Q0. unfold T at 1 in Q0. cbn [truth] in Q0. fold W in Q0. rewrite (proj2 (Z.leb_le _ _) LE) in Q0.
  specialize (Q0 eq_refl). unfold T in Q0. cbn [truth value] in Q0. apply Z.eqb_eq in Q0. fold W in Q0. change (v (e_node k) + e_low k) with (W (level_term k)) in Q0.
  pose proof (Q 1%nat _ eq_refl eq_refl) as Q1. cbn [goal] in Q1. unfold T in Q1. cbn [truth value] in Q1. fold m in Q1. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in Q1. clear Q.
  change (W (Sg (kept_node z))) with (sg (width_in m (kept_node z)) (v (kept_node z))). set (b := sg (width_in m (kept_node z)) (v (kept_node z))) in *.
  change (W (Sg (p_node y))) with (sg (width_in m (p_node y)) (v (p_node y))) in C. rewrite <- C in Q1. set (n := Design.count x) in *. set (s := v (distance z)) in *. set (w := width_in m (p_node y)) in *.
  assert (S0 : 0 <= s) by apply FD. pose proof (sg_range w (v (p_node y)) ltac:(lia) FN) as SR. rewrite <- C in SR.
  assert (PU : 0 < 2 ^ up) by (apply pow2_pos; lia).
  assert (NW : Z.abs (n * 2 ^ up) < 2 ^ (w + up)).
  { rewrite Z.pow_add_r by lia. assert (2 ^ w = 2 * 2 ^ (w - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
    rewrite Z.abs_mul, (Z.abs_eq (2 ^ up)) by lia. apply Z.mul_lt_mono_pos_r; lia. }
  assert (H : b * 2 ^ s * 1 <= n * 2 ^ up < (b + 1) * 2 ^ s * 1) by (apply (clamped_floor _ s (w + up)); lia).
  pose proof (pow2_pos s S0) as PS. split.
  - destruct TP as [[T1 T2]|[T1 [T2 T3]]].
    + rewrite T2. rewrite UE by congruence. replace (W (level_term k) - f - up - (W (p_top y) - f)) with (s + 0 - up) by lia. apply floor_is; try lia.
    + rewrite T2 in *. assert (B0 : b = 0) by (clear - H PS; nia). rewrite B0. apply round_div_0.
  - apply Z.le_trans with (Z.abs (n * 2 ^ up)).
    + clear - H PS. set (N := n * 2 ^ up) in *. nia.
    + rewrite Z.abs_mul, (Z.abs_eq (2 ^ up)) by lia. apply Z.mul_le_mono_nonneg_r; [lia|exact B].
Qed.

Lemma larger_is g a b k : Forall (holds ct) (larger_claims g a b k) -> forallb T g = true -> W (level_term k) = Z.max (W a) (W b) /\ forallb T (level_known k) = true.
Proof.
  intros C0 G. unfold larger_claims, level_known in C0. cbn [map] in C0. rewrite Forall_forall in C0. pose proof (C0 _ (or_introl eq_refl) v SOL G) as A. pose proof (C0 _ (or_intror (or_introl eq_refl)) v SOL G) as B.
  cbn [goal] in A, B. cbn [truth] in A. apply Z.eqb_eq in A. fold m in A, B. fold W in A. split.
  - rewrite A. unfold W at 1. cbn [value truth]. fold W. destruct (Z.ltb_spec (W a) (W b)); lia.
  - unfold level_known. cbn [forallb]. fold T in B. now rewrite B.
Qed.

End Parts.
Section Sound.
Variables (ct : circuit) (r : round_down) (ns : list number) (q : down_plan) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis OK : down_ok m r ns q = true.
Hypothesis CL : Forall (holds ct) (down_claims m r ns q).
Let T := truth m v.
Let W := value m v.
Let d := products_sum r.
Let o := out d.
Let f := down_bits r.
Let l := last_level q.
Let c := added q.
Let base := tops_low (first_front q).

Let fits_in i : in_circuit m i = true -> fits m v i. Proof. apply (in_map_fits ct v SOL CIRC). Qed.
Let front_of x : front_ok m d f x = true -> zero_exponent d = ZeroNone -> (forall i, In i (front_nodes x) -> fits m v i) -> Forall (holds ct) (front_claims m (fun _ => []) d f x) ->
  Forall (fun y => T (finite y) = true) (numbers_of x) -> tops_low x = base -> part_is T W f base (truncated r (map (num_in v) (numbers_of x))) (front_part x).
Proof. exact (front_is ct d f base v SOL x _). Qed.
Let floored_of x y up k z u : part_is T W f base x y -> 0 <= up -> 1 <= width_in m (p_node y) -> fits m v (p_node y) -> fits m v (distance z) -> forallb T (level_known k) = true ->
  W (p_top y) <= W (level_term k) -> Forall (holds ct) (floor_claims m y up k z) -> (Design.top x <> None -> u = W (level_term k) - f - up) ->
  round_div RD (Design.count x) (u - Design.unit x) = W (Sg (kept_node z)) /\ Z.abs (W (Sg (kept_node z))) <= p_bound y * 2 ^ up.
Proof. exact (floored_is ct f base v SOL x y up k z u). Qed.
Let larger_of g a b k : Forall (holds ct) (larger_claims g a b k) -> forallb T g = true -> W (level_term k) = Z.max (W a) (W b) /\ forallb T (level_known k) = true.
Proof. exact (larger_is ct v SOL g a b k). Qed.

Lemma down_parts : (sum_mode r = RD /\ zero_exponent d = ZeroNone /\ zsign o = SumSign /\ cut_again r = true /\ 0 <= more r) /\
  front_ok m d f (first_front q) = true /\ ending_ok m (floor_conversion r q) (floor_ending q) = true /\ rounding_ok m (signed_zeros o) (outcome (floor_ending q)) (down_ending q) = true /\
  (forall i, In i (p_node (products_part q) :: significand c :: code c :: distance (c_floored q) :: kept_node (c_floored q) :: distance (products_floored q) :: front_nodes (first_front q) ++ ending_nodes (floor_ending q)) -> fits m v i) /\
  1 <= width_in m (p_node (products_part q)) /\ base <= low c /\ 0 <= c_largest q /\
  match sides q with
  | None => two_sums r = false /\ numbers_of (first_front q) = ns
  | Some (x, y, z, k, n) =>
      two_sums r = true /\ 1 < Z.of_nat (length ns) /\ numbers_of (first_front q) = evens ns /\ numbers_of x = odds ns /\ front_ok m d f x = true /\
      tops_low x = base /\ 1 <= width_in m (total_node (first_front q)) /\ 1 <= width_in m (total_node x) /\
      forall i, In i (distance y :: distance z :: front_nodes x) -> fits m v i
  end.
Proof.
  unfold down_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[A A2] A3] B] C0] D] I] E] F0] G0] H]. apply Z.leb_le in A3, E, F0, G0. rewrite forallb_forall in I. fold d o f in A, B, D |- *. split.
  { destruct (sum_mode r), (zero_exponent d), (zsign o); try easy; repeat split; auto; unfold more; fold f; lia. }
  split; [exact B|]. split; [exact C0|]. split; [exact D|]. split; [intros i J; apply fits_in; now apply I|]. split; [exact E|]. split; [exact F0|]. split; [exact G0|].
  destruct (sides q) as [[[[[x y] z] k] n]|].
  - rewrite !andb_true_iff in H. destruct H as [[[[[[[[H1 H2] H3] H4] H5] H6] H7] H8] H9]. apply numbers_eq in H3, H4. apply Z.ltb_lt in H2. apply Z.eqb_eq in H6. apply Z.leb_le in H7, H8. rewrite forallb_forall in H9.
    repeat split; auto; apply fits_in; now apply H9.
  - rewrite andb_true_iff in H. destruct H as [H1 H2]. apply negb_true_iff in H1. apply numbers_eq in H2. auto.
Qed.

Lemma claims_in : Forall (holds ct) (front_claims m (fun _ => []) d f (first_front q)) /\ Forall (holds ct) (side_claims m r q) /\
  Forall (holds ct) (larger_claims (p_known (products_part q) ++ c_known q) (p_top (products_part q)) (exponent c) l) /\
  Forall (holds ct) (floor_claims m (products_part q) (more r) l (products_floored q)) /\ Forall (holds ct) (c_claims m r q) /\
  (forall a, In a [Claim [within (p_bound (products_part q) * 2 ^ more r) (Sg (kept_node (products_floored q))); AtMost (U (kept_node (c_floored q))) (Num_ (c_largest q))]
       (Equal (last_term q) (Plus (Sg (kept_node (products_floored q))) (Times (c_term q) (Num_ (2 ^ more r)))));
     Claim (Negation (no_size (floor_sum r ns q)) :: known (floor_sum r ns q)) (AtMost (Plus (U (height (floor_ending q))) (Num_ 1)) (Num_ (floor_emax q - emin o)))] -> holds ct a) /\
  Forall (holds ct) (kept_claims (floor_conversion r q) (floor_ending q) (floor_sum r ns q)) /\ Forall (holds ct) (outcome_claims (floor_conversion r q) (floor_ending q) (floor_sum r ns q)) /\
  Forall (holds ct) (rounding_claims m (signed_zeros o) (outcome (floor_ending q)) (floor_span q) (down_ending q)).
Proof.
  unfold down_claims in CL. rewrite !Forall_app in CL. destruct CL as [A [B [C0 [D [E [F0 [G [H I]]]]]]]]. exact (conj A (conj B (conj C0 (conj D (conj E (conj (proj1 (Forall_forall _ _) F0) (conj G (conj H I)))))))).
Qed.

Section Finite.
Hypothesis FIN : Forall (fun y => T (finite y) = true) ns.
Hypothesis FC : T (finite c) = true.
Let ts := map (num_in v) ns.

(** The products' sum. *)
Lemma products_are : part_is T W f base (if two_sums r && (1 <? Z.of_nat (length ts)) then sum_of_sides r (truncated r (evens ts)) (truncated r (odds ts)) else truncated r ts) (products_part q).
Proof.
  destruct down_parts as [[_ [ZN _]] [FO [_ [_ [FI [_ [_ [_ SD]]]]]]]]. destruct claims_in as [C1 [C2 _]].
  assert (FF : forall i, In i (front_nodes (first_front q)) -> fits m v i) by (intros i I; apply FI; do 6 right; apply in_or_app; now left).
  unfold ts. rewrite map_length. unfold products_part, side_claims in *. destruct (sides q) as [[[[[x y] z] k] n]|].
  2: { destruct SD as [-> SN]. cbn [andb]. rewrite <- SN. rewrite <- SN in FIN. now apply front_of. }
  destruct SD as [-> [LE [N1 [N2 [FX [TX [W1 [W2 FD]]]]]]]]. rewrite (proj2 (Z.ltb_lt _ _) LE). cbn [andb]. rewrite evens_map, odds_map, <- N1, <- N2.
  rewrite !Forall_app in C2. destruct C2 as [D1 [D2 [D3 [D4 D5]]]].
  assert (SUB : forall (P : number -> Prop) (ys : list number), Forall P ys -> Forall P (every_second ys)).
  { clear. intros P ys. assert (G : forall n (l : list number), (length l <= n)%nat -> Forall P l -> Forall P (every_second l)).
    { induction n as [|n IH]; intros l L F; [destruct l; [constructor|simpl in L; lia]|]. destruct F as [|a l A F]; [constructor|]. destruct F as [|b l B F]; [now repeat constructor|].
      cbn [every_second]. constructor; auto. apply IH; auto. simpl in L. lia. }
    now apply (G (length ys)). }
  assert (PA : part_is T W f base (truncated r (map (num_in v) (numbers_of (first_front q)))) (front_part (first_front q))).
  { apply front_of; auto. rewrite N1. now apply SUB. }
  assert (PB : part_is T W f base (truncated r (map (num_in v) (numbers_of x))) (front_part x)).
  { apply front_of; auto; [intros i I; apply FD; right; now right|]. rewrite N2. unfold odds. apply SUB. destruct FIN; [constructor|assumption]. }
  set (xa := truncated r (map (num_in v) (numbers_of (first_front q)))) in *. set (xb := truncated r (map (num_in v) (numbers_of x))) in *.
  set (a := front_part (first_front q)) in *. set (b := front_part x) in *.
  destruct (larger_of _ _ _ _ D2) as [LV LK]; [now rewrite forallb_app, (pi_known _ _ PA), (pi_known _ _ PB)|].
  set (e := omax (Design.top xa) (Design.top xb)). set (u := match e with Some e => e - down_bits r | None => 0 end).
  assert (EE : (e = Some (W (level_term k)) /\ u = W (level_term k) - f) \/ (e = None /\ u = 0 /\ W (level_term k) = base /\ Design.count xa = 0 /\ Design.count xb = 0)).
  { pose proof (pi_base _ _ PA) as BA. pose proof (pi_base _ _ PB) as BB. unfold u, e. rewrite LV. fold f.
    destruct (pi_top _ _ PA) as [[-> _]|[-> [CA EA]]], (pi_top _ _ PB) as [[-> _]|[-> [CB EB]]]; cbn [omax].
    - left; auto. - left. rewrite Z.max_l by lia. auto. - left. rewrite Z.max_r by lia. auto. - right. repeat split; auto. lia. }
  assert (UA : forall y', Design.top y' = Design.top xa \/ Design.top y' = Design.top xb -> Design.top y' <> None -> u = W (level_term k) - f - 0).
  { intros y' Hy N. destruct EE as [[_ ->]|[E0 _]]; [lia|]. exfalso. unfold e in E0. destruct Hy as [Hy|Hy]; rewrite Hy in N; destruct (Design.top xa), (Design.top xb); easy. }
  destruct (floored_of xa a 0 k y u PA ltac:(lia) W1 (FF _ (or_intror (or_introl eq_refl))) (FD _ (or_introl eq_refl)) LK ltac:(rewrite LV; lia) D3 (UA xa (or_introl eq_refl))) as [RA BDA].
  destruct (floored_of xb b 0 k z u PB ltac:(lia) W2 (FD (total_node x) ltac:(simpl; auto 6)) (FD _ (or_intror (or_introl eq_refl))) LK ltac:(rewrite LV; lia) D4 (UA xb (or_intror eq_refl))) as [RB BDB].
  rewrite Z.pow_0_r, Z.mul_1_r in BDA, BDB.
  assert (SM : W (Sg n) = W (Sg (kept_node y)) + W (Sg (kept_node z))).
  { apply Forall_inv in D5. pose proof (D5 v SOL) as H. cbn [given forallb goal] in H. fold m in H. rewrite !(proj2 (truth_within m v _ _)) in H by (fold W; lia). specialize (H eq_refl). cbn [truth] in H. apply Z.eqb_eq in H. exact H. }
  unfold sum_of_sides. fold e. fold u. rewrite RA, RB. constructor; cbn [Design.count Design.top Design.unit p_node p_bound p_known p_top].
  - now rewrite SM.
  - lia.
  - exact LK.
  - rewrite LV. pose proof (pi_base _ _ PA). lia.
  - destruct EE as [[E1 E2]|[E1 [E2 [E3 [E4 E5]]]]]; [left; auto|right]. repeat split; auto. rewrite E4 in RA. rewrite E5 in RB. rewrite round_div_0 in RA, RB. lia.
Qed.

Let N := W (last_term q).
Let u1 := W (level_term l) - (f + more r).

Lemma down_finite : counted ct (floor_sum r ns q) v N u1 /\ Z.abs N <= bound (floor_sum r ns q) /\ forallb T (known (floor_sum r ns q)) = true /\
  round_down_sum r ts (num_in v c) = rounded_value (signed_zeros o) (convert (floor_conversion r q) (N <? 0) N u1).
Proof.
  destruct down_parts as [[SM [ZN [ZS [CA MO]]]] [FO [EO [RO_ [FI [WN [BL [CB SD]]]]]]]]. destruct claims_in as [C1 [C2 [C3 [C4 [C5 [C6 [CK [CO CR]]]]]]]].
  pose proof products_are as PR. set (x := if two_sums r && _ then _ else _) in *.
  assert (FCODE : fits m v (code c)) by (apply FI; simpl; auto). assert (FSIG : fits m v (significand c)) by (apply FI; simpl; auto).
  assert (FDC : fits m v (distance (c_floored q))) by (apply FI; simpl; auto). assert (FKC : fits m v (kept_node (c_floored q))) by (apply FI; simpl; auto 6).
  assert (Q : forall j a, nth_error (c_claims m r q) j = Some a -> forallb T (given a) = true -> T (goal a) = true).
  { intros j a Nt G. rewrite Forall_forall in C5. exact (C5 a (nth_error_In _ _ Nt) v SOL G). }
  assert (CKN : forallb T (c_known q) = true). { unfold c_known. cbn [forallb]. rewrite andb_true_r. apply (Q 0%nat _ eq_refl). cbn [given forallb]. fold c. now rewrite FC. }
  destruct (larger_of _ _ _ _ C3) as [LV LK]; [now rewrite forallb_app, (pi_known _ _ PR), CKN|].
  set (E := W (level_term l)) in *. assert (EX : W (exponent c) = v (code c) + low c) by reflexivity. rewrite EX in LV.
  assert (BC : base <= v (code c) + low c) by (destruct FCODE; lia).
  assert (TE : (match Design.top x with Some e => Z.max e (exp (num_in v c)) | None => exp (num_in v c) end) = E).
  { cbn [num_in exp]. rewrite LV. destruct (pi_top _ _ PR) as [[-> _]|[-> [_ ->]]]; lia. }
  destruct (floored_of x (products_part q) (more r) l (products_floored q) u1 PR MO WN (FI _ (or_introl eq_refl)) (FI (distance (products_floored q)) ltac:(simpl; auto 8)) LK ltac:(fold E; rewrite LV; lia) C4 ltac:(intros _; unfold u1; fold E; lia)) as [RA BDA].
  (* c *)
  set (y := c_floored q) in *. set (s := v (distance y)) in *. set (kc := v (kept_node y)) in *. set (sc := v (sign c) =? 1). set (b := if sc then - kc else kc).
  assert (BT : W (c_term q) = b) by (unfold W, c_term, signed_term, b, sc; cbn [value truth]; fold c y; destruct (v (sign c) =? 1); fold kc; lia).
  assert (S0 : 0 <= s) by apply FDC. assert (K0 : 0 <= kc) by apply FKC.
  assert (SE : s = E - (v (code c) + low c)).
  { pose proof (Q 1%nat _ eq_refl) as H. cbn [given goal] in H. rewrite (forallb1 T), forallb_app, CKN in H. fold l in H. rewrite LK in H. unfold T at 1 in H. cbn [truth] in H. fold W c l in H. fold E in H. rewrite EX in H. rewrite (proj2 (Z.leb_le _ _)) in H by lia.
    specialize (H eq_refl). unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. exact H. }
  assert (KL : kc <= c_largest q). { pose proof (Q 3%nat _ eq_refl eq_refl) as H. unfold T in H. cbn [goal truth value] in H. now apply Z.leb_le in H. }
  assert (CUT : two_sums r = false \/ s <= f + 1 -> cut RD (E - f) (num_in v c) = b).
  { intros NF. pose proof (Q 2%nat _ eq_refl) as H. cbn [given goal] in H.
    assert (G : forallb T (if two_sums r then [Negation (Less (Num_ (down_bits r + 1)) (U (distance y)))] else []) = true).
    { destruct (two_sums r); [|reflexivity]. destruct NF as [NF|NF]; [easy|]. cbn [forallb]. unfold T. cbn [truth value]. fold f s. destruct (Z.ltb_spec (f + 1) s); [lia|reflexivity]. }
    specialize (H G). fold c f in H. exact (floor_cut m v f c (distance y) (kept_node y) E FSIG S0 SE H). }
  assert (BV : (if two_sums r && (exp (num_in v c) <? E - f - 1) then 0 else cut (sum_mode r) (E - f) (num_in v c)) = b).
  { rewrite SM. cbn [num_in exp]. destruct (two_sums r) eqn:TS; cbn [andb]; [|apply CUT; now left]. destruct (Z.ltb_spec (v (code c) + low c) (E - f - 1)) as [L|L]; [|apply CUT; right; lia].
    pose proof (Q 4%nat) as H. unfold c_claims in H. rewrite TS in H. specialize (H _ eq_refl). cbn [given forallb goal] in H.
    assert (G : T (Less (Num_ (down_bits r + 1)) (U (distance (c_floored q)))) = true) by (unfold T; cbn [truth value]; fold f y s; apply Z.ltb_lt; lia). rewrite G in H. specialize (H eq_refl).
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. fold y kc in H. unfold b. rewrite H. now destruct sc. }
  assert (PM : 0 < 2 ^ more r) by (apply pow2_pos; exact MO).
  assert (NV : N = W (Sg (kept_node (products_floored q))) + b * 2 ^ more r).
  { assert (KB : truth m v (AtMost (U (kept_node y)) (Num_ (c_largest q))) = true) by (cbn [truth value]; now apply Z.leb_le).
    pose proof (C6 _ (or_introl eq_refl) v SOL) as H. cbn [given forallb goal] in H. fold m in H. rewrite KB in H. rewrite (proj2 (truth_within m v _ _)) in H by (fold W; lia). specialize (H eq_refl).
    cbn [truth] in H. apply Z.eqb_eq in H. fold W in H. unfold N. rewrite H, <- BT. reflexivity. }
  assert (AB : Z.abs b <= c_largest q) by (unfold b; destruct sc; lia).
  assert (NB : Z.abs N <= last_bound r q).
  { unfold last_bound. rewrite NV. pose proof (Z.mul_le_mono_nonneg_r _ _ (2 ^ more r) ltac:(lia) AB) as AP. clear - BDA AP PM.
    eapply Z.le_trans; [apply Z.abs_triangle|]. rewrite Z.abs_mul, (Z.abs_eq (2 ^ more r)) by lia. lia. }
  assert (CT : counted ct (floor_sum r ns q) v N u1). { constructor; try reflexivity. unfold u1, E. cbn [floor_sum unit]. unfold W, level_term. cbn [value]. fold l f. lia. }
  assert (KN : forallb T (known (floor_sum r ns q)) = true). { cbn [floor_sum known]. rewrite (forallb1 T). fold l. rewrite LK, andb_true_r. apply (truth_within m v). fold W. fold N. lia. }
  split; [exact CT|]. split; [exact NB|]. split; [exact KN|].
  pose proof (kept_is ct (floor_conversion r q) (floor_ending q) (floor_sum r ns q) v EO CK SOL (fun i I => FI i ltac:(do 6 right; apply in_or_app; now right)) _ _ CT NB KN) as KF.
  assert (OV : N <> 0 -> v (height (floor_ending q)) + 1 <= emax (floor_conversion r q) - emin (floor_conversion r q)).
  { intros NZ. pose proof (C6 _ (or_intror (or_introl eq_refl)) v SOL) as H. cbn [given goal] in H. fold m in H. fold T in H. rewrite (forallb1 T), KN, andb_true_r in H.
    assert (G : T (Negation (no_size (floor_sum r ns q))) = true). { unfold T. cbn [floor_sum no_size truth]. fold W. change (W (last_term q)) with N. apply negb_true_iff. now apply Z.eqb_neq. } specialize (H G).
    cbn [truth value] in H. apply Z.leb_le in H. exact H. }
  pose proof EO as EO'. unfold ending_ok in EO'. rewrite !andb_true_iff, !Z.leb_le in EO'. destruct EO' as [[[[P0 EM] _] _] _].
  rewrite <- (floor_then (floor_conversion r q) o (sign_of (rho o) N [zero_with_sign (Design.sign x); num_in v c] [round_div RD (Design.count x) (u1 - Design.unit x); b]) N u1 _ _ _ P0 EM eq_refl eq_refl eq_refl eq_refl ZS KF OV).
  2: { intros NZ. now apply sign_nonzero. }
  unfold round_down_sum. change (length ts) with (length ts). fold x. unfold add_c. cbv zeta. rewrite TE, CA. fold d o f. replace (E - (sum_bits r + 1)) with u1 by (unfold u1, more; fold E f; lia).
  rewrite BV. replace (E - f - u1) with (more r) by (unfold u1; fold E; lia). rewrite SM, RA, <- NV. cbn [floor_conversion p]. reflexivity.
Qed.
End Finite.

(** The sum that is rounded down once more, with its special values. *)
Let R1 := on_numbers (fun _ => convert (floor_conversion r q) (W (last_term q) <? 0) (W (last_term q)) (W (level_term l) - (f + more r))) (map (val_in v) (ns ++ [c])).

Lemma numbers_or_special : numbers (map (val_in v) (ns ++ [c])) = None \/ Forall (fun y => T (finite y) = true) (ns ++ [c]).
Proof.
  unfold numbers. destruct (forallb is_num (map (val_in v) (ns ++ [c]))) eqn:Q; [right|now left]. rewrite forallb_forall in Q. apply Forall_forall. intros y I.
  specialize (Q _ (in_map (val_in v) _ _ I)). apply (truth_finite m v). unfold val_in in *. destruct (v (nan y) =? 1); [easy|]. now destruct (v (inf y) =? 1).
Qed.

Lemma all_numbers : Forall (fun y => T (finite y) = true) (ns ++ [c]) -> numbers (map (val_in v) (ns ++ [c])) = Some (map (num_in v) (ns ++ [c])).
Proof. intros F. rewrite <- numbers_map, map_map. f_equal. apply map_ext_in. intros y I. rewrite Forall_forall in F. apply (truth_finite m v). auto. Qed.

Lemma floored_sound : same_val R1 (val_in v (outcome (floor_ending q))).
Proof.
  destruct down_parts as [_ [_ [EO [_ [FI _]]]]]. destruct claims_in as [_ [_ [_ [_ [_ [_ [CK [CO _]]]]]]]].
  destruct (special_values m v d (ns ++ [c])) as [SN [SI FN]].
  assert (SP : forall w, numbers (map (val_in v) (ns ++ [c])) = None -> sum_values d (map (val_in v) (ns ++ [c])) = w -> R1 = w) by (intros w N E; unfold R1, on_numbers, sum_values in *; rewrite N in *; exact E).
  assert (NF : T (is_nan (floor_sum r ns q)) = true \/ T (is_inf (floor_sum r ns q)) = true -> numbers (map (val_in v) (ns ++ [c])) = None).
  { intros H. destruct numbers_or_special as [N|F]; auto. exfalso. rewrite Forall_forall in F. assert (Z0 : forall y, In y (ns ++ [c]) -> (v (nan y) =? 1) = false /\ (v (inf y) =? 1) = false).
    { intros y I. specialize (F y I). unfold T, finite in F. cbn [truth] in F. apply andb_prop in F. destruct F as [F1 F2]. apply negb_true_iff in F1, F2. auto. }
    unfold T, is_nan, is_inf, plus_inf, minus_inf in H. cbn [floor_sum operands truth] in H. fold c in H. rewrite !truth_any, !existsb_map in H. cbn [truth] in H.
    rewrite !orb_true_iff, !andb_true_iff, !existsb_exists in H.
    destruct H as [[[y [I H]]|[[y [I H]] _]]|[[y [I H]]|[y [I H]]]]; destruct (Z0 y I) as [A B]; try (apply andb_prop in H; destruct H as [H _]); congruence. }
  apply (finish ct (floor_conversion r q) (floor_ending q) (floor_sum r ns q) v EO CO SOL).
  - intros H. apply SP; auto.
  - intros A B. apply SP; auto.
  - intros A B. destruct (FN A B) as [F _]. pose proof F as F'. rewrite Forall_app in F'. destruct F' as [F1 F2]. destruct (down_finite F1 (Forall_inv F2)) as [CT [NB [KN _]]].
    do 3 eexists. split; [unfold R1, on_numbers; rewrite (all_numbers F); reflexivity|].
    pose proof (kept_is ct (floor_conversion r q) (floor_ending q) (floor_sum r ns q) v EO CK SOL (fun i I => FI i ltac:(do 6 right; apply in_or_app; now right)) _ _ CT NB KN) as KF.
    destruct CT as [CT1 CT2 CT3 CT4]. constructor; auto; discriminate.
Qed.

Theorem down_sound : same_val (down_value r (map (val_in v) ns) (val_in v c)) (val_in v (outcome (down_ending q))).
Proof.
  destruct down_parts as [_ [_ [_ [RO_ _]]]]. destruct claims_in as [_ [_ [_ [_ [_ [_ [_ [_ CR]]]]]]]].
  eapply same_val_trans; [|exact (rounding_sound ct v SOL CIRC (signed_zeros o) (outcome (floor_ending q)) (floor_span q) (down_ending q) R1 RO_ CR floored_sound)].
  assert (E : down_value r (map (val_in v) ns) (val_in v c) = rounded_value (signed_zeros o) R1); [|rewrite E; apply same_refl].
  unfold down_value, R1, on_numbers. change [val_in v c] with (map (val_in v) [c]). rewrite <- map_app. destruct numbers_or_special as [N|F].
  - rewrite N. unfold special_sum. repeat match goal with |- context [existsb ?a ?b] => destruct (existsb a b) end; reflexivity.
  - rewrite (all_numbers F). rewrite Forall_app in F. destruct F as [F1 F2]. apply Forall_inv in F2. destruct (down_finite F1 F2) as [_ [_ [_ EQ]]]. rewrite <- EQ.
    apply (truth_finite m v) in F2. rewrite F2. cbn [num_of]. f_equal. rewrite map_map. apply map_ext_in. intros y I. rewrite Forall_forall in F1. now rewrite (proj1 (truth_finite m v y) (F1 y I)).
Qed.

(** What is known of the cut points where the result is a number. *)
Lemma down_usual : (v (nan (outcome (down_ending q))) =? 1) = false -> (v (inf (outcome (down_ending q))) =? 1) = false ->
  forallb T (usual o (down_ending q) (to_round_of m (outcome (floor_ending q)) (floor_span q))) = true.
Proof.
  destruct down_parts as [_ [_ [_ [RO_ _]]]]. destruct claims_in as [_ [_ [_ [_ [_ [_ [_ [_ CR]]]]]]]]. exact (rounding_usual ct v SOL CIRC (signed_zeros o) _ _ _ RO_ CR).
Qed.
End Sound.
